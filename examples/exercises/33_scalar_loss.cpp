// 33  A loss is a scalar
//
// Backpropagation starts from one number. The mean below averages over the features only, so one number per position
// remains. Name every dimension that the loss averages over.
//
// FAILS: ERROR_R21_loss_is_one_number, line 19
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<2> {};
struct d_model : feature_dim<2> {};

int main() {
  const tensor<float, seq, d_model> x({1, 0, 0, 1}), target({1, 0, 0, 0});
  const tensor<float, d_model, out<d_model>> w({1, 0, 0, 1});
  const auto loss = [&](const auto& m) { return mean<d_model>(square(contract<d_model>(x, m) - target)); };
  tensor g = gradient(w, loss);
  expect(near(g, {0, 0, 0, 0.5F}), "only the last element has an error");
}
