// MISTAKE: the loss of a checked gradient has a mistake in its own lines; it is compiled for three types, and reported once.
// RULE: R1
// LINES(clang): 19
// EXPECT: ERROR_R1_contracted_dimension_is_not_in_both<.*contract.*vocab
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void step(const tensor<float, d_model, vocab>& w) {
#ifdef FIXED
  const auto check =
      check_gradient(w, [](const auto& m) { return cross_entropy<vocab>(contract<d_model>(x, m), tokens); });
#else
  const auto check =
      check_gradient(w, [](const auto& m) { return cross_entropy<vocab>(contract<vocab>(x, m), tokens); });
#endif
  [[maybe_unused]] const double error = check.error;
}
