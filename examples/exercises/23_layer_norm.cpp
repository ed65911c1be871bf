// 23  Norms go over features
//
// layer_norm brings the features of one position to mean 0 and variance 1. Over the positions it would mix words, and
// change a prediction when the sentence grows. It takes features; `standardize` takes any dimension, visibly.
//
// FAILS: ERROR_R13_norm_takes_features, line 18
// FROM: LayerNorm over sequence (or over everything)
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<2> {};
struct d_model : feature_dim<2> {};

int main() {
  tensor<float, seq, d_model> x({100, 300, 0, 200});
  tensor y = layer_norm<seq>(x);
  expect(near(y, {-1, 1, -1, 1}), "each position by itself");
}
