// MISTAKE: the third operand of a stack has other positions than the first two; the error names it and not the second.
// RULE: R10
// EXPECT: ERROR_R10_operands_differ_in_another_dimension<.*stack.*operand_shape<.*batch, .*seq, .*d_model>, .*operand_shape<.*batch, .*src, .*d_model> ?>
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct triple : heads_dim<3> {};

void layer() {
#ifdef FIXED
  RESULT r = stack<triple>(x, x, x);
#else
  RESULT r = stack<triple>(x, x, memory);
#endif
}
