// MISTAKE: the activation is applied to the term of each rank.
// RULE: R23
// EXPECT: ERROR_R23_partial_sum_is_reduced_first<.*map.*partial<.*tp
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct tp : mesh_axis<2> {};
struct hidden : feature_dim<8> {};
using hidden_here = shard<hidden, tp>;

void feed_forward(const tensor<float, batch, seq, hidden_here>& h, const tensor<float, hidden_here, d_ff>& down) {
  const auto y = contract<hidden_here>(h, down);
#ifdef FIXED
  RESULT r = -y;
#else
  RESULT r = gelu(y);
#endif
}
