// MISTAKE: the loss of a checked gradient has a value for each word.
// RULE: R21
// EXPECT: ERROR_R21_loss_is_one_number<.*vocab
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void step(const tensor<float, d_model, vocab>& w) {
#ifdef FIXED
  const auto check = check_gradient(w, [](const auto& m) { return mean<batch, seq, vocab>(contract<d_model>(x, m)); });
#else
  const auto check = check_gradient(w, [](const auto& m) { return mean<batch, seq>(contract<d_model>(x, m)); });
#endif
  [[maybe_unused]] const double error = check.error;
}
