// MISTAKE: tokens are indicated among heads.
// RULE: R18
// EXPECT: ERROR_R18_ids_index_their_own_dimension_only<.*one_hot.*heads.*id<demo::vocab>
// VARIANTS: equal unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = one_hot<vocab>(tokens);
#else
  RESULT r = one_hot<heads>(tokens);
#endif
}
