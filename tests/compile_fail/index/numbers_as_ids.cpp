// MISTAKE: numbers without a dimension are looked up in an embedding.
// RULE: R18
// EXPECT: ERROR_R18_ids_index_their_own_dimension_only<.*gather.*vocab
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = gather<vocab>(embedding, tokens);
#else
  RESULT r = gather<vocab>(embedding, lengths);
#endif
}
