// MISTAKE: a mask of 0 and 1 in a mean: only bool has a polarity.
// RULE: R7
// EXPECT: ERROR_R7_given_mask_is_a_tensor_of_bool<.*mean.*batch.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void apply(const tensor<int, batch, seq>& given) {
#ifdef FIXED
  RESULT r = mean<seq>(x, allow(given != 0));
#else
  RESULT r = mean<seq>(x, given);
#endif
}
