// MISTAKE: the predicted token is taken from the state instead of the logits.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*argmax.*vocab
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = argmax<vocab>(contract<d_model>(x, embedding));
#else
  RESULT r = argmax<vocab>(x);
#endif
}
