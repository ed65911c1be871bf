// MISTAKE: the keys are not rotated.
// RULE: R9
// EXPECT: ERROR_R9_only_one_operand_is_rotated<.*scores.*rotated<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = scores<d_k>(rotary<seq, d_k>(q), rotary<key, d_k>(k));
#else
  RESULT r = scores<d_k>(rotary<seq, d_k>(q), k);
#endif
}
