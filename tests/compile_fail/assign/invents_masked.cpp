// MISTAKE: scores are declared to be masked.
// RULE: R7
// EXPECT: ERROR_R7_declared_type_drops_or_invents_masked<.*assign.*masked_for<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  tensor<float, batch, heads, seq, key, score<d_k>, masked_for<key>> p = masked(s, causal<seq, key>{});
#else
  tensor<float, batch, heads, seq, key, score<d_k>, masked_for<key>> p = s;
#endif
}
