// MISTAKE: masked scores become an expr without the mark.
// RULE: R7
// EXPECT: ERROR_R7_declared_type_drops_or_invents_masked<.*declared<.*computed<.*masked_for<
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
  const auto hidden = masked(s, causal<seq, key>{});
#ifdef FIXED
  [[maybe_unused]] expr<float, shape<batch, heads, seq, key, score<d_k>, masked_for<key>>> e = hidden;
#else
  [[maybe_unused]] expr<float, shape<batch, heads, seq, key, score<d_k>>> e = hidden;
#endif
}
