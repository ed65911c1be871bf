// MISTAKE: the last norm of a stack is over features that its layers do not have.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*layer_norm.*d_ff
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

extern const nn::stack<encoder_block, nn::layer_norm<d_model>> normed_at_the_end;
extern const nn::stack<encoder_block, nn::layer_norm<d_ff>> normed_otherwise;

void layer() {
#ifdef FIXED
  RESULT y = normed_at_the_end(memory);
#else
  RESULT y = normed_otherwise(memory);
#endif
}
