// MISTAKE: a loss goes through numbers of 8 bits: rounding has no gradient.
// RULE: R21
// EXPECT: ERROR_R21_operation_has_no_gradient<.*quantised
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

extern tensor<tracked<float>, batch, d_model> trained;

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto y = quantised<d_model>(detached(trained));
#else
  [[maybe_unused]] const auto y = quantised<d_model>(trained);
#endif
}
