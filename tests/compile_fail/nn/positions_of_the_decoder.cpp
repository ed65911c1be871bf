// MISTAKE: learned positions of the decoder are added to the encoder's state.
// RULE: R8
// EXPECT: ERROR_R8_neither_has_all_dimensions_of_the_other<.*src.*seq
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = places(x);
#else
  RESULT y = places(memory);
#endif
}
