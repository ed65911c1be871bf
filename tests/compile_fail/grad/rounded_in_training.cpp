// MISTAKE: a loss goes through numbers of bfloat16: rounding has no gradient.
// RULE: R21
// EXPECT: ERROR_R21_operation_has_no_gradient<.*rounded
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

extern tensor<tracked<float>, batch, d_model> trained;

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto y = rounded<bfloat16>(detached(trained));
#else
  [[maybe_unused]] const auto y = rounded<bfloat16>(trained);
#endif
}
