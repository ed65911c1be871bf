// MISTAKE: the sum is scattered along a dimension that the product has contracted.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*reduce_scatter.*hidden
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/ranks/collectives.hpp>

struct tp : mesh_axis<2> {};
struct hidden : feature_dim<8> {};
using hidden_here = shard<hidden, tp>;

void feed_forward(const tensor<float, batch, seq, hidden_here>& h, const tensor<float, hidden_here, d_model>& down,
                  const ranks::mesh<tp>& grid) {
#ifdef FIXED
  RESULT r = reduce_scatter<tp, batch>(contract<hidden_here>(h, down), grid);
#else
  RESULT r = reduce_scatter<tp, hidden>(contract<hidden_here>(h, down), grid);
#endif
}
