// 36  One step for all parameters: a solution
//
// HINT: Construct the optimiser for `model`, and pass `model` to its step.
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct row : position_dim<2> {};
struct d_model : feature_dim<2> {};
struct hidden : feature_dim<3> {};

int main() {
  const auto x = some<tensor<float, row, d_model>>(1);
  const tensor<float, row> target({1, -1});
  std::tuple model(some<tensor<float, d_model, hidden>>(2), some<tensor<float, hidden>>(3));
  const auto loss = [&](const auto& m) {
    const auto& [first, last] = m;
    return mean<row>(square(contract<hidden>(relu(contract<d_model>(x, first)), last) - target));
  };
  const auto before = model;
  sgd optimiser(model, {.rate = 0.1});
  optimiser.step(model, gradient(model, loss));
  const auto& [first, last] = model;
  expect(!near(first - std::get<0>(before), {0, 0, 0, 0, 0, 0}), "the first layer learns");
  expect(!near(last - std::get<1>(before), {0, 0, 0}), "the last layer learns");
}
