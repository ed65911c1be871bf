// MISTAKE: the length of the sequence is given where a mask stands.
// RULE: R7
// EXPECT: ERROR_R7_scores_change_by_a_mask_a_bias_or_a_function<.*scores.*int
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = attends_itself(x, padding<key>(lengths));
#else
  RESULT y = attends_itself(x, 3);
#endif
}
