// 03  Names instead of axis numbers
//
// `x.mean(axis=0)` counts axes; `mean<seq>(x)` names the dimension that is reduced. The other dimensions stay. Compute
// the mean over the positions of each sentence. The declared type of `sentences` is right: it states the remaining
// dimensions, batch and d_model.
//
// FAILS: ERROR_R3_assigned_dimensions_differ, line 19
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct batch : batch_dim<2> {};
struct seq : position_dim<3> {};
struct d_model : feature_dim<2> {};

int main() {
  tensor<float, batch, seq, d_model> x({1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6});
  tensor<float, batch, d_model> sentences = mean<batch>(x);
  expect(near(sentences, {2, 2, 5, 5}), "the mean of each sentence");
}
