// MISTAKE: a mask for flattened heads and batch is tiled in the order (heads, batch).
// RULE: R4
// EXPECT: ERROR_R4_composite_has_other_factors_or_order<.*masked.*merged<
// FROM: (B*H) mask tiled instead of interleaved
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<bool, merged<heads, batch>, seq, key>& tiled) {
#ifdef FIXED
  RESULT r = masked(s, allow(split<heads, batch>(tiled)));
#else
  RESULT r = masked(s, allow(tiled));
#endif
}
