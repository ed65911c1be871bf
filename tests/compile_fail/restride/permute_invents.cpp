// MISTAKE: an order that names the key positions of a tensor of queries.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*permute.*key
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = permute<batch, heads, seq, d_k>(q);
#else
  RESULT r = permute<batch, heads, key, d_k>(q);
#endif
}
