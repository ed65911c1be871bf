// MISTAKE: the queries are rotated, the keys are not.
// RULE: R9
// EXPECT: ERROR_R9_only_one_operand_is_rotated<.*rotated<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<float, batch, seq, heads, d_k, rotated<d_k, seq>>& turned,
               const tensor<float, batch, key, heads, d_k, rotated<d_k, seq>>& turned_keys) {
#ifdef FIXED
  RESULT r = scores<d_k>(turned, turned_keys);
#else
  RESULT r = scores<d_k>(turned, k);
#endif
}
