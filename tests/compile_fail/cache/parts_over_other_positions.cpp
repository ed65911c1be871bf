// MISTAKE: weights over the keys meet values that stand at the queries' positions.
// RULE: R3
// EXPECT: ERROR_R3_values_are_at_other_positions_than_the_weights<.*key
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<float, batch, seq, heads, d_v> v_here;

void layer() {
#ifdef FIXED
  [[maybe_unused]] auto r = partial_attention<key>(s, v);
#else
  [[maybe_unused]] auto r = partial_attention<key>(s, v_here);
#endif
}
