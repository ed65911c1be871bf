// MISTAKE: a mask keeps a dimension of extent 1 where the heads should be, so that it would be stretched.
// RULE: R7
// EXPECT: ERROR_R7_mask_has_dimensions_that_the_scores_lack<.*masked.*unit
// FROM: mask batch axis lands on heads
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct unit : dimension<ability::none, 1> {};

void attention(const tensor<float, batch, kv_heads, group_of, seq, key, score<d_k>>& grouped,
               const tensor<bool, batch, unit, seq, key>& unsqueezed, const tensor<bool, batch, seq, key>& bits) {
#ifdef FIXED
  RESULT r = masked(grouped, allow(bits));
#else
  RESULT r = masked(grouped, allow(unsqueezed));
#endif
}
