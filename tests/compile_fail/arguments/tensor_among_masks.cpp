// MISTAKE: a mask and a tensor of bool without polarity.
// RULE: R7
// EXPECT: ERROR_R7_mask_needs_a_polarity_allow_or_block<.*seq
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<bool, seq, key> visible;

void layer() {
#ifdef FIXED
  auto m = padding<key>(lengths) & allow(visible);
#else
  auto m = padding<key>(lengths) & visible;
#endif
}
