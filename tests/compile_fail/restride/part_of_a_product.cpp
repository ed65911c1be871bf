// MISTAKE: a part is taken from a dimension that is not a sum.
// RULE: R14
// EXPECT: ERROR_R14_part_is_taken_from_a_summed_dimension<.*part.*d_k
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(const tensor<float, batch, seq, merged<heads, d_k>>& packed) {
#ifdef FIXED
  RESULT r = split<heads, d_k>(packed);
#else
  RESULT r = part<d_k>(packed);
#endif
}
