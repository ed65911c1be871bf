// MISTAKE: a dimension is contracted twice.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*contract.*d_k.*d_k
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = contract<d_k>(q, k);
#else
  RESULT r = contract<d_k, d_k>(q, k);
#endif
}
