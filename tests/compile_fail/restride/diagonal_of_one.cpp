// MISTAKE: the diagonal of a dimension with itself.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*diagonal.*seq
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = diagonal<seq, key>(s);
#else
  RESULT r = diagonal<seq, seq>(s);
#endif
}
