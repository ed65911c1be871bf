// MISTAKE: a token is compared with the id of an expert.
// RULE: R18
// EXPECT: ERROR_R18_ids_index_their_own_dimension_only<.*compare.*vocab.*heads
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<id<heads>, batch, seq> chosen;

void count() {
#ifdef FIXED
  RESULT y = tokens == id<vocab>(3);
#else
  RESULT y = tokens == chosen;
#endif
}
