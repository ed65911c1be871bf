// MISTAKE: an order that names a dimension twice.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*permute.*seq
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = permute<batch, heads, d_k, seq>(q);
#else
  RESULT r = permute<batch, seq, heads, d_k, seq>(q);
#endif
}
