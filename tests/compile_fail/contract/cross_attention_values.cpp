// MISTAKE: the values of cross-attention are taken from the decoder.
// RULE: R3
// EXPECT: ERROR_R3_values_are_at_other_positions_than_the_weights<.*src
// FROM: cross-attention K,V taken from the decoder (or Q from the encoder)
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = contract<src>(a_src, contract<d_model>(memory, w_v));
#else
  RESULT r = contract<src>(a_src, contract<d_model>(x, w_v));
#endif
}
