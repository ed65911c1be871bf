// MISTAKE: the parts are given in another order than the sum names them.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*concat.*summed<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct cls : position_dim<1> {};

void layer(const tensor<float, batch, cls, d_model>& token) {
#ifdef FIXED
  RESULT r = concat<summed<cls, src>>(token, memory);
#else
  RESULT r = concat<summed<cls, src>>(memory, token);
#endif
}
