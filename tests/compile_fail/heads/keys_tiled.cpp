// MISTAKE: the keys of grouped heads are repeated for each query head, under another heads dimension.
// RULE: R11
// EXPECT: ERROR_R11_every_head_against_every_head<.*kv_heads.*heads
// FROM: kv heads tiled instead of interleaved
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<float, batch, seq, kv_heads, group_of, d_k>& grouped,
               const tensor<float, batch, key, kv_heads, d_k>& keys) {
#ifdef FIXED
  RESULT r = scores<d_k>(grouped, keys);
#else
  RESULT r = scores<d_k>(grouped, k);
#endif
}
