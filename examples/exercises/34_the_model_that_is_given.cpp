// 34  The model that is given
//
// A gradient is recorded through the model that the loss is given. This loss uses the one outside: it would compute the
// right number, and every slope would be 0.
//
// FAILS: ERROR_R21_loss_has_no_tracked_operand, line 19
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<2> {};
struct d_model : feature_dim<2> {};

int main() {
  const tensor<float, seq, d_model> x({1, 0, 0, 1}), wanted({1, 0, 0, 0});
  const tensor<float, d_model, out<d_model>> w({1, 0, 0, 1});
  const auto loss = [&](const auto&) { return mean<seq, d_model>(square(contract<d_model>(x, w) - wanted)); };
  tensor slope = gradient(w, loss);
  expect(near(slope, {0, 0, 0, 0.5F}), "only the last number is wrong");
}
