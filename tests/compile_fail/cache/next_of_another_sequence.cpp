// MISTAKE: the next positions of a cache are given to the positions of the encoder, which are another sequence.
// RULE: R7
// EXPECT: ERROR_R7_query_and_key_positions_are_related_or_have_origins<.*next.*src.*past
// VARIANTS: equal dynamic
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void layer() {
#ifdef FIXED
  [[maybe_unused]] const auto step = cache.next(now{1});
#else
  [[maybe_unused]] const auto step = cache.next(src{});
#endif
}
