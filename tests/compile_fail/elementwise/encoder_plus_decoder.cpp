// MISTAKE: the residual adds the encoder's output to the decoder's state.
// RULE: R8
// EXPECT: ERROR_R8_neither_has_all_dimensions_of_the_other<.*seq.*src
// FROM: residual adds encoder output instead of decoder state
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = x + x;
#else
  RESULT r = x + memory;
#endif
}
