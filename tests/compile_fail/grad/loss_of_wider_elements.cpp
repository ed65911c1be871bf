// MISTAKE: a formula of the user's own meets a tensor of double, so the loss of a float model is a double.
// RULE: R21
// EXPECT: ERROR_R21_loss_has_other_elements_than_the_model<.*gradient.*declared<float>.*computed<double>
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

#ifdef FIXED
using target = float;
#else
using target = double;
#endif

void step(const tensor<float, batch, d_model>& model, const tensor<target, batch, d_model>& targets) {
  [[maybe_unused]] const auto g =
      gradient(model, [&](const auto& m) { return mean<batch, d_model>(square(m - targets)); });
}
