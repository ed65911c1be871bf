// MISTAKE: the number of heads and the size of a head are swapped in the split.
// RULE: R4
// EXPECT: ERROR_R4_composite_has_other_factors_or_order<.*split.*d_k.*heads
// FROM: number of heads and head size swapped in the split
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(const tensor<float, batch, seq, merged<heads, d_k>>& packed) {
#ifdef FIXED
  RESULT r = split<heads, d_k>(packed);
#else
  RESULT r = split<d_k, heads>(packed);
#endif
}
