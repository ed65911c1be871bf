// MISTAKE: heads stand beside heads merged with their features.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*heads.*merged<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  tensor<float, batch, seq, merged<heads, d_k>> w;
#else
  tensor<float, batch, heads, merged<heads, d_k>> w;
#endif
}
