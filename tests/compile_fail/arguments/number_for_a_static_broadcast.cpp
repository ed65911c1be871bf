// MISTAKE: a number is given to a broadcast over a dimension whose extent the type has.
// RULE: R15
// EXPECT: ERROR_R15_run_time_extents_are_given_once<.*broadcast.*head.*int
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct head : heads_dim<3> {};

void layer() {
#ifdef FIXED
  RESULT y = broadcast<head>(x);
#else
  RESULT y = broadcast<head>(x, 8);
#endif
}
