// MISTAKE: the norm after a divided layer is taken of the term of each rank.
// RULE: R23
// EXPECT: ERROR_R23_partial_sum_is_reduced_first<.*rms_norm.*d_model.*partial<.*tp
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct tp : mesh_axis<2> {};
struct hidden : feature_dim<8> {};
using hidden_here = shard<hidden, tp>;

void feed_forward(const tensor<float, batch, seq, hidden_here>& h, const tensor<float, hidden_here, d_model>& down) {
  const auto y = contract<hidden_here>(h, down);
#ifdef FIXED
  RESULT r = permute<seq, batch, d_model>(y) * 2;
#else
  RESULT r = rms_norm<d_model>(y);
#endif
}
