// MISTAKE: the diagonal of positions that are not there.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*diagonal.*key
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = diagonal<seq, key>(s);
#else
  RESULT r = diagonal<seq, key>(x);
#endif
}
