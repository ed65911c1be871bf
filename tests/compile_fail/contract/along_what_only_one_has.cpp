// MISTAKE: `along` names a dimension that the queries lack.
// RULE: R1
// EXPECT: ERROR_R1_contracted_dimension_is_not_in_both<.*key
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = contract<d_k>(q, k);
#else
  RESULT r = contract<d_k>(q, k, along<key>{});
#endif
}
