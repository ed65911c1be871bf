// MISTAKE: tokens are ordered: a vocabulary has no order.
// RULE: R18
// EXPECT: ERROR_R18_ids_index_their_own_dimension_only<.*compare.*vocab
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void count() {
#ifdef FIXED
  RESULT y = tokens == id<vocab>(3);
#else
  RESULT y = tokens < id<vocab>(3);
#endif
}
