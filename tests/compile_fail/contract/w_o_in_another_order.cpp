// MISTAKE: heads are merged as (d_v, heads), and W_O expects (heads, d_v).
// RULE: R4
// EXPECT: ERROR_R4_composite_has_other_factors_or_order<.*merged<.*heads.*d_v
// FROM: merged as (head_dim, heads) but W_O expects (heads, head_dim)
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<float, merged<heads, d_v>, d_model>& w) {
#ifdef FIXED
  RESULT r = contract<merged<heads, d_v>>(merge<heads, d_v>(z), w);
#else
  RESULT r = contract<merged<heads, d_v>>(merge<d_v, heads>(z), w);
#endif
}
