// 44  Quantised weights have scales: a solution
//
// HINT: Contract x with `up.weight.dequantised()`.
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<1> {};
struct d_model : feature_dim<32> {};
struct d_ff : feature_dim<2> {};

int main() {
  const auto x = some<tensor<float, seq, d_model>>(1);
  const auto w = some<tensor<float, d_ff, d_model>>(2);
  nn::linear<nn::from<d_model>, nn::to<d_ff>, nn::no_bias, nn::int8_blocks> up;
  up.weight.assign(w);
  tensor y = contract<d_model>(x, up.weight.dequantised());
  tensor error = max<seq, d_ff>(abs(y - contract<d_model>(x, w)));
  expect(static_cast<float>(error) < 0.05F, "nearly the product with the weight before quantization");
}
