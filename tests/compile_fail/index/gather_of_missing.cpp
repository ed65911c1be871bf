// MISTAKE: tokens are looked up along a dimension that the table lacks.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*gather.*vocab
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = gather<vocab>(embedding, tokens);
#else
  RESULT r = gather<vocab>(memory, tokens);
#endif
}
