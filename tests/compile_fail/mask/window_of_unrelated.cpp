// MISTAKE: a window between positions of two sequences.
// RULE: R7
// EXPECT: ERROR_R7_query_and_key_positions_are_related_or_have_origins<.*window.*seq.*src
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = masked(s_src, window<seq, src>{2, 0, seq{}, src{}});
#else
  RESULT r = masked(s_src, window<seq, src>{2, 0});
#endif
}
