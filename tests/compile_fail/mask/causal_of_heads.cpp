// MISTAKE: a causal mask between heads.
// RULE: R13
// EXPECT: ERROR_R13_needs_ordered_positions<.*causal.*heads
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct other_heads : prime<heads> {};

void attention() {
#ifdef FIXED
  [[maybe_unused]] auto m = causal<seq, key>{};
#else
  [[maybe_unused]] auto m = causal<heads, other_heads>{};
#endif
}
