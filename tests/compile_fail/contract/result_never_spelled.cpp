// MISTAKE: an ill-shaped product whose result type is never written.
// RULE: R1
// EXPECT: ERROR_R1_contracted_dimension_is_not_in_both<.*d_v
// FROM: ill-shaped matmul compiles when the result type is not written
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  (void)contract<heads, d_v>(z, w_o);
#else
  contract<d_v>(q, w_o);
#endif
}
