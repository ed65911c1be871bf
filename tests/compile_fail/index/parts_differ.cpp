// MISTAKE: a class token without batch is put before the patches of a batch.
// RULE: R10
// EXPECT: ERROR_R10_operands_differ_in_another_dimension<.*concat.*summed<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct cls : position_dim<1> {};

void layer(const tensor<float, cls, d_model>& token) {
#ifdef FIXED
  RESULT r = concat<summed<cls, src>>(broadcast<batch>(token, batch{}), memory);
#else
  RESULT r = concat<summed<cls, src>>(token, memory);
#endif
}
