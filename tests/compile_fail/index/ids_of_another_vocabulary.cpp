// MISTAKE: tokens of the source language are looked up in the target's embedding.
// RULE: R18
// EXPECT: ERROR_R18_ids_index_their_own_dimension_only<.*gather.*vocab.*id<.*src_vocab
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct src_vocab : choice_dim<EXTENT(12)> {};

void layer(const tensor<id<src_vocab>, batch, src>& source) {
#ifdef FIXED
  RESULT r = gather<vocab>(embedding, tokens);
#else
  RESULT r = gather<vocab>(embedding, source);
#endif
}
