// MISTAKE: rows are hidden by a tensor of 0 and 1.
// RULE: R7
// EXPECT: ERROR_R7_given_mask_is_a_tensor_of_bool<.*whole_rows.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void apply(const tensor<int, seq>& given) {
#ifdef FIXED
  RESULT r = masked(s, whole_rows(allow(given != 0)));
#else
  RESULT r = masked(s, whole_rows(given));
#endif
}
