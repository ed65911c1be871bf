// MISTAKE: masked scores are added up.
// RULE: R7
// EXPECT: ERROR_R7_masked_values_go_to_softmax_or_a_reduction<.*scatter_add
// VARIANTS: equal
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(const tensor<bool, key>& bits) {
#ifdef FIXED
  RESULT r = scatter_add<vocab>(s, tokens);
#else
  RESULT r = scatter_add<vocab>(masked(s, allow(bits)), tokens);
#endif
}
