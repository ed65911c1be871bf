// MISTAKE: the keys have one dimension for all heads, the queries keep their groups apart.
// RULE: R11
// EXPECT: ERROR_R11_every_head_against_every_head<.*contract
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct all_heads : heads_dim<EXTENT(54)> {};

void attention(const tensor<float, batch, seq, kv_heads, group_of, d_k>& grouped,
               const tensor<float, batch, key, all_heads, d_k>& repeated,
               const tensor<float, batch, key, kv_heads, d_k>& keys) {
#ifdef FIXED
  RESULT r = contract<d_k>(grouped, keys);
#else
  RESULT r = contract<d_k>(grouped, repeated);
#endif
}
