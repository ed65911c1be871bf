// MISTAKE: the largest elements, of which only the program knows how many, without saying it.
// RULE: R15
// EXPECT: ERROR_R15_run_time_extents_are_given_once<.*top_k.*best
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct best : choice_dim<> {};

void layer() {
#ifdef FIXED
  RESULT y = top_k<vocab, best>(logits, best{3}).values;
#else
  RESULT y = top_k<vocab, best>(logits).values;
#endif
}
