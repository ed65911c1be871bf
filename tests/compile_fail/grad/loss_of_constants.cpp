// MISTAKE: the loss was computed with the model outside, not with the one that it is given: every gradient would be 0.
// RULE: R21
// EXPECT: ERROR_R21_loss_has_no_tracked_operand
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train(const tensor<float, d_model, out<d_model>>& w) {
#ifdef FIXED
  const auto loss = [&](const auto& m) { return mean<batch, seq, d_model>(square(contract<d_model>(x, m))); };
#else
  const auto loss = [&](const auto&) { return mean<batch, seq, d_model>(square(contract<d_model>(x, w))); };
#endif
  [[maybe_unused]] const auto g = gradient(w, loss);
}
