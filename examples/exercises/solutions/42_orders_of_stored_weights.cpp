// 42  The order of a stored weight: a solution
//
// HINT: PyTorch stores outputs times inputs: `io::out_in`.
#include "loading.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<1> {};
struct d_model : feature_dim<2> {};
struct d_ff : feature_dim<3> {};

int main() {
  const arrays file("model.safetensors", {{"up.weight", {3, 2}, {1, 2, 3, 4, 5, 6}}, {"up.bias", {3}, {0, 0, 0}}});
  nn::linear<nn::from<d_model>, nn::to<d_ff>> up;
  io::bindings names;
  names.linear<io::out_in>("up", up);
  io::load(up, file.archive(), names);
  const tensor<float, seq, d_model> x({1, 10});
  tensor y = up(x);
  expect(near(y, {21, 43, 65}), "each output is a row of the stored weight");
}
