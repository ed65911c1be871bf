// MISTAKE: a sum of three parts is given two.
// RULE: R10
// EXPECT: ERROR_R10_operands_differ_in_another_dimension<.*concat.*summed<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct cls : position_dim<1> {};

void layer(const tensor<float, batch, cls, d_model>& token) {
#ifdef FIXED
  RESULT r = concat<summed<cls, src, seq>>(token, memory, x);
#else
  RESULT r = concat<summed<cls, src, seq>>(token, memory);
#endif
}
