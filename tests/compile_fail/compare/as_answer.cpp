// MISTAKE: a comparison of two tensors is negated, which is a mask only once its polarity is known.
// RULE: R7
// EXPECT: ERROR_R7_mask_needs_a_polarity_allow_or_block<.*seq.*d_model
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void step() {
#ifdef FIXED
  RESULT y = max<batch, seq, d_model>(indicator(allow(x != x)));
#else
  [[maybe_unused]] const bool same = !(x != x);
#endif
}
