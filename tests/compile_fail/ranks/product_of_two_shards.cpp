// MISTAKE: a divided input meets a weight whose columns are divided along the same mesh axis.
// RULE: R25
// EXPECT: ERROR_R25_mesh_axis_occurs_twice<.*contract.*d_model.*lhs<.*rhs<
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct tp : mesh_axis<2> {};
struct dp : mesh_axis<2> {};
struct examples : batch_dim<4> {};
struct hidden : feature_dim<8> {};

#ifdef FIXED
using examples_here = shard<examples, dp>;
#else
using examples_here = shard<examples, tp>;
#endif
void layer(const tensor<float, examples_here, seq, d_model>& in, const tensor<float, d_model, shard<hidden, tp>>& up) {
  RESULT r = contract<d_model>(in, up);
}
