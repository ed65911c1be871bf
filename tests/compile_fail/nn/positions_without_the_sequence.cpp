// MISTAKE: learned positions at one given position for each sequence of the batch, not for each of its tokens.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*gather.*seq.*batch
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(const tensor<int, batch, seq>& positions) {
#ifdef FIXED
  RESULT y = places(x, positions);
#else
  RESULT y = places(x, lengths);
#endif
}
