// MISTAKE: gradients at the positions of the memory are added up by ids at those of the decoder.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*scatter_add.*seq
// VARIANTS: equal
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = scatter_add<vocab>(x, tokens);
#else
  RESULT r = scatter_add<vocab>(memory, tokens);
#endif
}
