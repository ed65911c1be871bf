// MISTAKE: weights are mixed over heads with values that keep their key positions.
// RULE: R5
// EXPECT: ERROR_R5_weights_are_contracted_over_their_own_dimension<.*heads
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = contract<key>(a, v);
#else
  RESULT r = contract<heads>(a, v);
#endif
}
