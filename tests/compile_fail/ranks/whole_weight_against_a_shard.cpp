// MISTAKE: the second weight of a divided layer has the whole hidden dimension.
// RULE: R24
// EXPECT: ERROR_R24_whole_dimension_meets_its_shard<.*contract.*hidden.*lhs<.*shard<.*rhs<.*hidden
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct tp : mesh_axis<2> {};
struct hidden : feature_dim<8> {};
using hidden_here = shard<hidden, tp>;

#ifdef FIXED
using rows = hidden_here;
#else
using rows = hidden;
#endif
void feed_forward(const tensor<float, batch, seq, hidden_here>& h, const tensor<float, rows, d_model>& down) {
  RESULT y = contract<hidden_here>(h, down);
}
