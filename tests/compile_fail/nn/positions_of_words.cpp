// MISTAKE: learned positions at the ids of words.
// RULE: R18
// EXPECT: ERROR_R18_ids_index_their_own_dimension_only<.*gather.*seq.*vocab
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(const tensor<id<vocab>, batch, seq>& said, const tensor<id<seq>, batch, seq>& positions) {
#ifdef FIXED
  RESULT y = places(x, positions);
#else
  RESULT y = places(x, said);
#endif
}
