// MISTAKE: a slice of positions that the operand lacks.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*slice.*key
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct few : position_dim<2> {};

void layer() {
#ifdef FIXED
  RESULT r = slice<seq, few>(x, 0);
#else
  RESULT r = slice<key, few>(x, 0);
#endif
}
