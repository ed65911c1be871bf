// 03  Names instead of axis numbers: a solution
//
// HINT: Which dimension must be reduced so that batch and d_model remain?
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct batch : batch_dim<2> {};
struct seq : position_dim<3> {};
struct d_model : feature_dim<2> {};

int main() {
  tensor<float, batch, seq, d_model> x({1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6});
  tensor<float, batch, d_model> sentences = mean<seq>(x);
  expect(near(sentences, {2, 2, 5, 5}), "the mean of each sentence");
}
