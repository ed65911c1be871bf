// MISTAKE: a dimension is shared by the same name twice.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*contract.*seq.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = contract<d_k>(q, q, along<seq>{});
#else
  RESULT r = contract<d_k>(q, q, along<seq, seq>{});
#endif
}
