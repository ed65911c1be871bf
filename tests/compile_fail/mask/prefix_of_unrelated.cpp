// MISTAKE: a prefix mask between positions of two sequences.
// RULE: R7
// EXPECT: ERROR_R7_query_and_key_positions_are_related_or_have_origins<.*prefix.*seq.*src
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = masked(s, prefix<seq, key>{3});
#else
  RESULT r = masked(s_src, prefix<seq, src>{3});
#endif
}
