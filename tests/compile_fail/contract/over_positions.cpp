// MISTAKE: contracted over positions instead of features: the transpose is on the wrong side.
// RULE: R1
// EXPECT: ERROR_R1_contracted_dimension_is_not_in_both<.*contract.*seq
// FROM: contracts positions instead of features
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = contract<d_k>(q, k);
#else
  RESULT r = contract<seq>(q, k);
#endif
}
