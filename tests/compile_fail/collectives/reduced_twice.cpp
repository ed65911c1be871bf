// MISTAKE: a sum that was reduced is reduced once more, and counts twice.
// RULE: R23
// EXPECT: ERROR_R23_operand_is_no_partial_sum<.*all_reduce.*tp.*d_model
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/ranks/collectives.hpp>

struct tp : mesh_axis<2> {};
struct hidden : feature_dim<8> {};
using hidden_here = shard<hidden, tp>;

void feed_forward(const tensor<float, batch, d_model, partial<tp>>& terms, const ranks::mesh<tp>& grid) {
  const auto y = all_reduce<tp>(terms, grid);
#ifdef FIXED
  RESULT r = y * 2;
#else
  RESULT r = all_reduce<tp>(y, grid);
#endif
}
