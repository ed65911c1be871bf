// MISTAKE: heads are merged in another order than declared.
// RULE: R4
// EXPECT: ERROR_R4_composite_is_not_the_declared_dimension<.*assign.*merged<.*heads.*d_v.*merged<.*d_v.*heads
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  tensor<float, batch, seq, merged<heads, d_v>> y = merge<heads, d_v>(z);
#else
  tensor<float, batch, seq, merged<heads, d_v>> y = merge<d_v, heads>(z);
#endif
}
