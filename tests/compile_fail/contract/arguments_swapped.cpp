// MISTAKE: values and weights of the output projection are named by the wrong features.
// RULE: R1
// EXPECT: ERROR_R1_contracted_dimension_is_not_in_both<.*d_k
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = contract<heads, d_v>(z, w_o);
#else
  RESULT r = contract<heads, d_k>(z, w_o);
#endif
}
