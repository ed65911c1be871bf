// MISTAKE: masked values are normalised by their mean and variance.
// RULE: R7
// EXPECT: ERROR_R7_masked_values_go_to_softmax_or_a_reduction<.*standardize
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = masked(standardize<key>(s), causal<seq, key>{});
#else
  RESULT r = standardize<key>(masked(s, causal<seq, key>{}));
#endif
}
