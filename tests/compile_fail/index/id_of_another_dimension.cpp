// MISTAKE: a token is used as a position.
// RULE: R18
// EXPECT: ERROR_R18_ids_index_their_own_dimension_only<.*at.*seq.*id<.*vocab
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(id<vocab> token) {
#ifdef FIXED
  RESULT r = at<vocab>(embedding, token);
#else
  RESULT r = at<seq>(x, token);
#endif
}
