// MISTAKE: contracted over the key positions instead of the features: a transpose was forgotten.
// RULE: R1
// EXPECT: ERROR_R1_contracted_dimension_is_not_in_both<.*contract.*key.*rhs
// FROM: forgot K^T: contracts d_k with key positions
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = contract<d_k>(q, k);
#else
  RESULT r = contract<key>(q, k);
#endif
}
