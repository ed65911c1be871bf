// MISTAKE: a cache that grows along the positions of several documents, which no append could tell apart.
// RULE: R19
// EXPECT: ERROR_R19_packed_positions_need_their_documents<.*append.*several
// VARIANTS: equal unused dynamic
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

struct several : packed_dim<> {};

#ifdef FIXED
using grows = past;
#else
using grows = several;
#endif

void layer() {
  nn::kv_cache<grows, nn::capacity<64>, nn::keys<float, batch, heads, grows, d_k>,
               nn::values<float, batch, heads, grows, d_v>>* mine = nullptr;
  (void)sizeof(*mine);
}
