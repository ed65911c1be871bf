// MISTAKE: the reduction is forgotten, and the term of each rank is stored as the sum.
// RULE: R23
// EXPECT: ERROR_R23_declared_type_drops_or_invents_partial<.*assign.*d_model.*partial<.*tp
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct tp : mesh_axis<2> {};
struct hidden : feature_dim<8> {};
using hidden_here = shard<hidden, tp>;

void feed_forward(const tensor<float, batch, seq, hidden_here>& h, const tensor<float, hidden_here, d_model>& down) {
#ifdef FIXED
  tensor<float, batch, seq, d_model, partial<tp>> y = contract<hidden_here>(h, down);
#else
  tensor<float, batch, seq, d_model> y = contract<hidden_here>(h, down);
#endif
}
