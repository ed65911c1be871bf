// MISTAKE: the packed queries are split by the features of the values.
// RULE: R4
// EXPECT: ERROR_R4_composite_has_other_factors_or_order<.*split.*heads.*d_v
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(const tensor<float, batch, seq, merged<heads, d_k>>& packed) {
#ifdef FIXED
  RESULT r = split<heads, d_k>(packed);
#else
  RESULT r = split<heads, d_v>(packed);
#endif
}
