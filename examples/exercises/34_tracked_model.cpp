// 34  The tracked model
//
// `gradient` calls the loss with a tracked copy of the model. This loss uses the variable outside instead: its value
// would be right, and every gradient 0.
//
// FAILS: ERROR_R21_loss_has_no_tracked_operand, line 19
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<2> {};
struct d_model : feature_dim<2> {};

int main() {
  const tensor<float, seq, d_model> x({1, 0, 0, 1}), target({1, 0, 0, 0});
  const tensor<float, d_model, out<d_model>> w({1, 0, 0, 1});
  const auto loss = [&](const auto&) { return mean<seq, d_model>(square(contract<d_model>(x, w) - target)); };
  tensor g = gradient(w, loss);
  expect(near(g, {0, 0, 0, 0.5F}), "only the last element has an error");
}
