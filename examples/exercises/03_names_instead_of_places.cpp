// 03  Names instead of places
//
// `mean(axis=0)` counts; `mean<seq>` names. The dimension that is named goes, the others stay. The mean over the
// positions of each sentence is wanted, and the declared type says what is left: batch and d_model.
//
// FAILS: ERROR_R3_assigned_dimensions_differ, line 18
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
