// MISTAKE: a model counts positions of the target, its words stand at the source.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*scores.*seq
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

extern const nn::transformer<vocab, seq, d_model, nn::stack<encoder_block>> counts_the_target;

void layer() {
#ifdef FIXED
  RESULT y = language_model(sentence);
#else
  RESULT y = counts_the_target(sentence);
#endif
}
