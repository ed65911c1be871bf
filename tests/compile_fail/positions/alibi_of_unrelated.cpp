// MISTAKE: a linear bias between positions of two sequences.
// RULE: R7
// EXPECT: ERROR_R7_query_and_key_positions_are_related_or_have_origins<.*seq.*src
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = biased(s, alibi<seq, key, heads>{});
#else
  RESULT r = biased(s_src, alibi<seq, src, heads>{});
#endif
}
