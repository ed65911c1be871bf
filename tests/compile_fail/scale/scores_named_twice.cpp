// MISTAKE: the features of scores are named twice.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*scores.*d_k.*d_k
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = scores<d_k>(q, k);
#else
  RESULT r = scores<d_k, d_k>(q, k);
#endif
}
