// MISTAKE: what a mask hides is ordered among the rest.
// RULE: R7
// EXPECT: ERROR_R7_masked_values_go_to_softmax_or_a_reduction<.*argsort
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  [[maybe_unused]] auto r = argsort<seq>(x);
#else
  [[maybe_unused]] auto r = argsort<seq>(masked(x, padding<seq>(lengths)));
#endif
}
