// MISTAKE: a fused projection that is interleaved per head is cut into contiguous parts.
// RULE: R14
// EXPECT: ERROR_R14_part_is_taken_from_a_summed_dimension<.*part.*merged<.*heads.*d_k
// FROM: fused qkv split contiguous although weights are interleaved per head
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct d_q : feature_dim<EXTENT(8)> {};

void layer(const tensor<float, batch, seq, merged<heads, summed<d_q, d_k, d_v>>>& qkv) {
#ifdef FIXED
  RESULT r = part<d_k>(split<heads, summed<d_q, d_k, d_v>>(qkv));
#else
  RESULT r = part<merged<heads, d_k>>(qkv);
#endif
}
