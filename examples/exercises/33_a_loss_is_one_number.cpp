// 33  A loss is one number
//
// The gradient of a model is the slope of one number. The mean below names the features only, so that a number for each
// position is left. Name every dimension that the loss goes over.
//
// FAILS: ERROR_R21_loss_is_one_number, line 19
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<2> {};
struct d_model : feature_dim<2> {};

int main() {
  const tensor<float, seq, d_model> x({1, 0, 0, 1}), wanted({1, 0, 0, 0});
  const tensor<float, d_model, out<d_model>> w({1, 0, 0, 1});
  const auto loss = [&](const auto& m) { return mean<d_model>(square(contract<d_model>(x, m) - wanted)); };
  tensor slope = gradient(w, loss);
  expect(near(slope, {0, 0, 0, 0.5F}), "only the last number is wrong");
}
