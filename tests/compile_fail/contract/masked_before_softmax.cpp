// MISTAKE: masked scores are multiplied with the values: hidden ones are minus infinity.
// RULE: R7
// EXPECT: ERROR_R7_masked_values_go_to_softmax_or_a_reduction<.*masked_for<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
  auto visible = masked(plain(s), causal<seq, key>{});
#ifdef FIXED
  RESULT r = contract<key>(softmax<key>(visible), v);
#else
  RESULT r = contract<key>(visible, v);
#endif
}
