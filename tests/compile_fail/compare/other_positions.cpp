// MISTAKE: states of the decoder are compared with states of the encoder.
// RULE: R8
// EXPECT: ERROR_R8_neither_has_all_dimensions_of_the_other<.*compare.*seq.*src
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void states() {
#ifdef FIXED
  RESULT y = x < x * 2;
#else
  RESULT y = x < memory;
#endif
}
