// MISTAKE: broadcast to a dimension whose extent only the program knows, without saying it.
// RULE: R15
// EXPECT: ERROR_R15_run_time_extents_are_given_once<.*broadcast.*head
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct head : heads_dim<> {};

void layer() {
#ifdef FIXED
  RESULT y = broadcast<head>(x, head{3});
#else
  RESULT y = broadcast<head>(x);
#endif
}
