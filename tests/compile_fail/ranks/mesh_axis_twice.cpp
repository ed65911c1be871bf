// MISTAKE: both sides of a weight are divided along one mesh axis.
// RULE: R25
// EXPECT: ERROR_R25_mesh_axis_occurs_twice<.*tp
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct tp : mesh_axis<2> {};
struct hidden : feature_dim<8> {};
using hidden_here = shard<hidden, tp>;
struct dp : mesh_axis<2> {};
struct wide : feature_dim<4> {};

void layer() {
#ifdef FIXED
  tensor<float, shard<wide, dp>, hidden_here> w;
#else
  tensor<float, shard<wide, tp>, hidden_here> w;
#endif
}
