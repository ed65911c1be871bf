// MISTAKE: the gradient of a whole weight is added over the ranks again: it is complete already.
// RULE: R23
// EXPECT: ERROR_R23_operand_is_no_partial_sum<.*all_reduce.*tp.*d_model
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/ranks/collectives.hpp>

struct tp : mesh_axis<2> {};
struct hidden : feature_dim<8> {};
using hidden_here = shard<hidden, tp>;

void trained(const tensor<float, d_model>& gain, const tensor<float, batch, d_model>& x,
             const tensor<float, d_model, hidden_here>& up, const ranks::mesh<tp>& grid) {
  const tensor g = gradient(gain, [&](const auto& w) {
    return all_reduce<tp>(sum<batch, hidden_here>(square(contract<d_model>(x * w, up))), grid);
  });
#ifdef FIXED
  RESULT r = g * 2;
#else
  RESULT r = all_reduce<tp>(g, grid);
#endif
  (void)g, (void)grid;
}
