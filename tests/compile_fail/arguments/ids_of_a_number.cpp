// MISTAKE: ids of a dimension whose extent is a plain number.
// RULE: R15
// EXPECT: ERROR_R15_run_time_extents_are_given_once<.*place.*int
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct place : position_dim<> {};

void layer() {
#ifdef FIXED
  RESULT y = ids_of<place>(place{4});
#else
  RESULT y = ids_of<place>(4);
#endif
}
