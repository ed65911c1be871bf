// MISTAKE: each rank takes the slopes of ALiBi for its part of the heads as if these were all heads.
// RULE: R24
// EXPECT: ERROR_R24_operation_goes_over_a_shard<.*biased.*shard<.*all_heads, .*tp
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct tp : mesh_axis<2> {};
struct all_heads : heads_dim<8> {};
using heads_here = shard<all_heads, tp>;

void attended(const tensor<float, heads_here, seq, key, score<d_k>>& part,
              const tensor<float, all_heads, seq, key, score<d_k>>& whole) {
#ifdef FIXED
  RESULT y = softmax<key>(biased(whole, alibi<seq, key, all_heads>{}));
#else
  RESULT y = softmax<key>(biased(part, alibi<seq, key, heads_here>{}));
#endif
  (void)part, (void)whole;
}
