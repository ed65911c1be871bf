// MISTAKE: the loss of a checked gradient takes a model of floats: no type of the check is it called with.
// RULE: R21
// EXPECT: ERROR_R21_loss_takes_the_model_with_tracked_elements
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

using weights = tensor<float, d_model, vocab>;

void step(const weights& w) {
#ifdef FIXED
  const auto check = check_gradient(w, [](const auto& m) { return mean<batch, seq, vocab>(contract<d_model>(x, m)); });
#else
  const auto check =
      check_gradient(w, [](const weights& m) { return mean<batch, seq, vocab>(contract<d_model>(x, m)); });
#endif
  [[maybe_unused]] const double error = check.error;
}
