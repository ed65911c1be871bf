// 42  The order of a stored weight
//
// This program compiles, and throws when it runs. A file knows extents, not dimensions. PyTorch's Linear stores a
// weight as outputs times inputs, GPT-2's Conv1D as inputs times outputs. The convention is a type: `io::out_in` or
// `io::in_out`. These arrays come from PyTorch; for this course they are in memory instead of a file.
//
// FAILS: when it runs, an exception of model.safetensors
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
  names.linear<io::in_out>("up", up);
  io::load(up, file.archive(), names);
  const tensor<float, seq, d_model> x({1, 10});
  tensor y = up(x);
  expect(near(y, {21, 43, 65}), "each output is a row of the stored weight");
}
