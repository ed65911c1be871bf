// 23  Norms go over features
//
// layer_norm gives the features of one position mean 0 and variance 1. Over positions it would mix tokens, and a
// prediction would change when the sentence grows. It takes features only; `standardize` takes any dimension.
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
  expect(near(y, {-1, 1, -1, 1}), "each position separately");
}
