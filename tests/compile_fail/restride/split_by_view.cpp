// MISTAKE: the model dimension is viewed as heads, as a reshape by numbers would.
// RULE: R4
// EXPECT: ERROR_R4_composite_has_other_factors_or_order<.*split.*heads.*d_k
// FROM: split heads by view, no transpose
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(const tensor<float, d_model, merged<heads, d_k>>& w) {
#ifdef FIXED
  RESULT r = split<heads, d_k>(contract<d_model>(x, w));
#else
  RESULT r = split<heads, d_k>(x);
#endif
}
