// MISTAKE: softmax names the encoder's positions, the scores have the decoder's.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*softmax.*src
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = softmax<src>(s_src);
#else
  RESULT r = softmax<src>(s);
#endif
}
