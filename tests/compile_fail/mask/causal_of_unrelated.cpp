// MISTAKE: a causal mask between positions of two sequences, without saying where they begin.
// RULE: R7
// EXPECT: ERROR_R7_query_and_key_positions_are_related_or_have_origins<.*causal.*seq.*src
// FROM: causal mask when Q != K extents: top-left vs bottom-right
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = masked(s_src, causal<seq, src>{seq{}, src{}});
#else
  RESULT r = masked(s_src, causal<seq, src>{});
#endif
}
