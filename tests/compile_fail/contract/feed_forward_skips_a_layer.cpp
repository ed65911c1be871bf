// MISTAKE: the second layer of the feed-forward network is applied to its input.
// RULE: R1
// EXPECT: ERROR_R1_contracted_dimension_is_not_in_both<.*d_ff
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<float, d_model, d_ff>& w_1, const tensor<float, d_ff, d_model>& w_2) {
#ifdef FIXED
  RESULT r = contract<d_ff>(relu(contract<d_model>(x, w_1)), w_2);
#else
  RESULT r = contract<d_ff>(x, w_2);
#endif
}
