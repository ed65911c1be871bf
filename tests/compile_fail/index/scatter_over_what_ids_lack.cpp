// MISTAKE: values are summed over features, which the ids do not place.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*scatter_add.*d_model
// VARIANTS: equal unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = scatter_add<vocab, seq>(x, tokens);
#else
  RESULT r = scatter_add<vocab, d_model>(x, tokens);
#endif
}
