// MISTAKE: a loss has a mistake in its own lines; the call that differentiates it adds no second error.
// RULE: R21
// LINES(clang): 19
// EXPECT: ERROR_R21_operation_has_no_gradient<.*map.*d_model
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

struct cubed {
  float operator()(float v) const { return v * v * v; }
#ifdef FIXED
  float derivative(float v) const { return 3 * v * v; }
#endif
};

void step(const tensor<float, batch, d_model>& model) {
  const auto [loss, g] =
      value_and_gradient(model, [&](const auto& m) { return mean<batch, d_model>(map(cubed(), m)); });
  [[maybe_unused]] const float value = loss;
  [[maybe_unused]] const tensor<float, batch, d_model> next = model - 0.1F * g;
}
