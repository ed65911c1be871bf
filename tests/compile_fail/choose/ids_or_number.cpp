// MISTAKE: tokens that are hidden become the number 0, not the token 0.
// RULE: R18
// EXPECT: ERROR_R18_ids_index_their_own_dimension_only<.*where.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void choose() {
#ifdef FIXED
  RESULT y = where(padding<seq>(lengths), tokens, id<vocab>(0));
#else
  RESULT y = where(padding<seq>(lengths), tokens, 0);
#endif
}
