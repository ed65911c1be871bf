// MISTAKE: a causal mask over a sum in which the keys stand in front.
// RULE: R7
// EXPECT: ERROR_R7_query_and_key_positions_are_related_or_have_origins<.*causal.*seq.*learned
// VARIANTS: equal
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct learned : position_dim<3> {};

void attention() {
#ifdef FIXED
  const auto r = causal<seq, summed<learned, key>>{};
  (void)r;
#else
  const auto r = causal<seq, summed<key, learned>>{};
  (void)r;
#endif
}
