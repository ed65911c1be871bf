// MISTAKE: the bias of the projection is added after the rotation.
// RULE: R9
// EXPECT: ERROR_R9_only_one_operand_is_rotated<.*d_k.*rotated<.*d_k
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<float, heads, d_k> bias;

void layer() {
#ifdef FIXED
  RESULT r = rotary<seq, d_k>(q + bias);
#else
  RESULT r = rotary<seq, d_k>(q) + bias;
#endif
}
