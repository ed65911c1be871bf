// MISTAKE: a causal mask as numbers, without the extents of its positions.
// RULE: R15
// EXPECT: ERROR_R15_run_time_extents_are_given_once<.*word.*other_word
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct word : position_dim<> {};
struct other_word : prime<word> {};

void lower_triangle() {
#ifdef FIXED
  RESULT y = indicator(causal<word, other_word>{}, word{3}, other_word{3});
#else
  RESULT y = indicator(causal<word, other_word>{});
#endif
}
