// MISTAKE: queries and keys are contracted over the heads: the features would be a diagonal.
// RULE: R2
// EXPECT: ERROR_R2_shared_dimension_is_not_parallel<.*d_k
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = contract<d_k>(q, k);
#else
  RESULT r = contract<heads>(q, k);
#endif
}
