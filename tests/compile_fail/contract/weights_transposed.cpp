// MISTAKE: the weights meet the values on their query side, as if they had been transposed.
// RULE: R5
// EXPECT: ERROR_R5_weights_are_contracted_over_their_own_dimension<.*seq.*normalised<
// FROM: attention matrix transposed before V
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = contract<key>(a, v);
#else
  RESULT r = contract<seq>(a, rename<key, seq>(v));
#endif
}
