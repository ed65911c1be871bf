// MISTAKE: tokens are rounded to bfloat16: ids are not numbers.
// RULE: R18
// EXPECT: ERROR_R18_ids_index_their_own_dimension_only<.*rounded
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = rounded<bfloat16>(gather<vocab>(embedding, tokens));
#else
  RESULT r = rounded<bfloat16>(tokens);
#endif
}
