// MISTAKE: self-attention weights over the decoder meet the encoder's values.
// RULE: R3
// EXPECT: ERROR_R3_values_are_at_other_positions_than_the_weights<.*key.*src
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = contract<key>(a, v);
#else
  RESULT r = contract<key>(a, v_src);
#endif
}
