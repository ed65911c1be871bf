// MISTAKE: keys are appended to values.
// RULE: R10
// EXPECT: ERROR_R10_operands_differ_in_another_dimension<.*concat.*past
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct past : position_dim<> {};

void layer(const tensor<float, batch, heads, past, d_k>& keys, const tensor<float, batch, heads, past, d_v>& values) {
#ifdef FIXED
  RESULT r = concat<past>(keys, keys);
#else
  RESULT r = concat<past>(keys, values);
#endif
}
