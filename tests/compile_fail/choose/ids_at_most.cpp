// MISTAKE: the larger of two tokens.
// RULE: R18
// EXPECT: ERROR_R18_ids_index_their_own_dimension_only<.*maximum.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void choose() {
#ifdef FIXED
  RESULT y = where(tokens == id<vocab>(1), id<vocab>(2), tokens);
#else
  RESULT y = max(tokens, tokens);
#endif
}
