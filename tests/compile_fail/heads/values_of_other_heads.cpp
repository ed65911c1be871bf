// MISTAKE: weights of grouped heads meet values of the query heads: each head's weights with every head's values.
// RULE: R11
// EXPECT: ERROR_R11_every_head_against_every_head<.*kv_heads.*heads
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<float, batch, kv_heads, group_of, seq, key, normalised<key>>& weights,
               const tensor<float, batch, key, kv_heads, d_v>& values) {
#ifdef FIXED
  RESULT r = contract<key>(weights, values);
#else
  RESULT r = contract<key>(weights, v);
#endif
}
