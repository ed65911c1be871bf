// MISTAKE: a relative bias names buckets that its table lacks.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*bucket
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct bucket : choice_dim<32> {};

void layer(const tensor<float, heads>& slopes, const tensor<float, bucket, heads>& table) {
#ifdef FIXED
  RESULT r = biased(s, relative_bias<seq, key, bucket>(table));
#else
  RESULT r = biased(s, relative_bias<seq, key, bucket>(slopes));
#endif
}
