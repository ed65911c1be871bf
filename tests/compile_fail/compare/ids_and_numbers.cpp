// MISTAKE: tokens are compared with a number.
// RULE: R18
// EXPECT: ERROR_R18_ids_index_their_own_dimension_only<.*compare.*batch.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void count() {
#ifdef FIXED
  RESULT y = tokens != id<vocab>(0);
#else
  RESULT y = tokens != 0;
#endif
}
