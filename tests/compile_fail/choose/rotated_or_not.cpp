// MISTAKE: rotated queries are taken where a mask says so, and queries without rotation elsewhere.
// RULE: R9
// EXPECT: ERROR_R9_only_one_operand_is_rotated<.*where.*rotated<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<bool, seq> far;

void layer() {
#ifdef FIXED
  RESULT y = where(far, rotary<seq, d_k>(q), rotary<seq, d_k>(2.0F * q));
#else
  RESULT y = where(far, rotary<seq, d_k>(q), q);
#endif
}
