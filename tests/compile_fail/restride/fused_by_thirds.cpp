// MISTAKE: a fused projection whose parts differ in size is cut in three equal parts.
// RULE: R14
// EXPECT: ERROR_R14_part_is_taken_from_a_summed_dimension<.*part.*third
// FROM: fused qkv cut in three equal parts under GQA
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct third : feature_dim<EXTENT(44)> {};
using fused = summed<merged<heads, d_k>, merged<kv_heads, d_k>, merged<kv_heads, d_v>>;

void layer(const tensor<float, batch, seq, fused>& qkv) {
#ifdef FIXED
  RESULT r = part<merged<kv_heads, d_k>>(qkv);
#else
  RESULT r = part<third>(qkv);
#endif
}
