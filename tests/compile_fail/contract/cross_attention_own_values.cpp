// MISTAKE: the weights over the encoder meet the decoder's own keys and values.
// RULE: R3
// EXPECT: ERROR_R3_values_are_at_other_positions_than_the_weights<.*src.*key
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = contract<src>(a_src, v_src);
#else
  RESULT r = contract<src>(a_src, v);
#endif
}
