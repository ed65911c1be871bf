// MISTAKE: values are added up where ids of another dimension say.
// RULE: R18
// EXPECT: ERROR_R18_ids_index_their_own_dimension_only<.*scatter_add.*heads.*id<demo::vocab>
// VARIANTS: equal unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = scatter_add<vocab>(x, tokens);
#else
  RESULT r = scatter_add<heads>(x, tokens);
#endif
}
