// MISTAKE: a quotient is taken by the term of each rank.
// RULE: R23
// EXPECT: ERROR_R23_partial_sum_is_reduced_first<.*divide.*partial<.*tp
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct tp : mesh_axis<2> {};
struct hidden : feature_dim<8> {};
using hidden_here = shard<hidden, tp>;

void scaled_by_sum(const tensor<float, batch, seq, hidden_here>& h, const tensor<float, batch, seq>& x) {
#ifdef FIXED
  RESULT r = sum<hidden_here>(h) / x;
#else
  RESULT r = x / sum<hidden_here>(h);
#endif
}
