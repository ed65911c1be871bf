// MISTAKE: the larger of rotated and unrotated queries.
// RULE: R9
// EXPECT: ERROR_R9_only_one_operand_is_rotated<.*d_k.*rotated<.*d_k
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = rotary<seq, d_k>(max(q, q));
#else
  RESULT r = max(rotary<seq, d_k>(q), q);
#endif
}
