// MISTAKE: each rank adds 1 to its term of the sum.
// RULE: R23
// EXPECT: ERROR_R23_whole_value_is_added_to_a_partial_sum<.*elementwise.*partial<.*tp
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct tp : mesh_axis<2> {};
struct hidden : feature_dim<8> {};
using hidden_here = shard<hidden, tp>;

void shifted(const tensor<float, batch, seq, hidden_here>& h) {
#ifdef FIXED
  RESULT y = sum<hidden_here>(h) * 2;
#else
  RESULT y = sum<hidden_here>(h) + 1;
#endif
}
