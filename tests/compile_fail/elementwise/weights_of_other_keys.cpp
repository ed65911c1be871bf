// MISTAKE: weights over the decoder and the encoder are averaged.
// RULE: R8
// EXPECT: ERROR_R8_neither_has_all_dimensions_of_the_other<.*key.*src
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = (a + a) / 2.0F;
#else
  RESULT r = (a + a_src) / 2.0F;
#endif
}
