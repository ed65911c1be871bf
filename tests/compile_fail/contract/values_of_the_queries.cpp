// MISTAKE: the values come from the queries' positions and were not renamed.
// RULE: R3
// EXPECT: ERROR_R3_values_are_at_other_positions_than_the_weights<.*key.*normalised<
// FROM: value computed from the query input
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
  auto values = contract<d_model>(x, w_v);
#ifdef FIXED
  RESULT r = contract<key>(a, rename<seq, key>(values));
#else
  RESULT r = contract<key>(a, values);
#endif
}
