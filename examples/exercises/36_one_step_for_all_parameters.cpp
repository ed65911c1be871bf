// 36  One step for all parameters
//
// A training step computes the gradient of the whole model and moves every parameter. The optimiser is constructed for
// the model whose parameters it moves, since it keeps a state for each of them. This one was constructed for the last
// layer, so the first one would keep its initial values.
//
// FAILS: ERROR_R22_gradient_belongs_to_another_model, line 27
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
  sgd optimiser(std::get<1>(model), {.rate = 0.1});
  optimiser.step(std::get<1>(model), gradient(model, loss));
  const auto& [first, last] = model;
  expect(!near(first - std::get<0>(before), {0, 0, 0, 0, 0, 0}), "the first layer learns");
  expect(!near(last - std::get<1>(before), {0, 0, 0}), "the last layer learns");
}
