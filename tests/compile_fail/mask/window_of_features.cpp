// MISTAKE: a window between features.
// RULE: R13
// EXPECT: ERROR_R13_needs_ordered_positions<.*window.*d_k
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct other_d_k : prime<d_k> {};

void attention() {
#ifdef FIXED
  [[maybe_unused]] auto m = window<seq, key>{2, 0};
#else
  [[maybe_unused]] auto m = window<d_k, other_d_k>{2, 0};
#endif
}
