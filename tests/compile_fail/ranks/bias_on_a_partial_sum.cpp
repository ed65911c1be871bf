// MISTAKE: each rank adds the bias to its term of the sum, which then counts it twice.
// RULE: R23
// EXPECT: ERROR_R23_whole_value_is_added_to_a_partial_sum<.*elementwise.*partial<.*tp
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct tp : mesh_axis<2> {};
struct hidden : feature_dim<8> {};
using hidden_here = shard<hidden, tp>;

void feed_forward(const tensor<float, batch, seq, hidden_here>& h, const tensor<float, hidden_here, d_model>& down,
                  const tensor<float, d_model, partial<tp>>& share_of_bias, const tensor<float, d_model>& bias) {
#ifdef FIXED
  RESULT y = contract<hidden_here>(h, down) + share_of_bias;
#else
  RESULT y = contract<hidden_here>(h, down) + bias;
#endif
  (void)share_of_bias, (void)bias;
}
