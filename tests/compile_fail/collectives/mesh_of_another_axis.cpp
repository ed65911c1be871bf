// MISTAKE: the mesh that is given divides the batch only.
// RULE: R25
// EXPECT: ERROR_R25_mesh_has_no_such_axis<.*all_reduce.*tp.*mesh<.*dp
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/ranks/collectives.hpp>

struct tp : mesh_axis<2> {};
struct hidden : feature_dim<8> {};
using hidden_here = shard<hidden, tp>;

struct dp : mesh_axis<> {};

void feed_forward(const tensor<float, batch, d_model, partial<tp>>& terms, const ranks::mesh<tp>& grid,
                  const ranks::mesh<dp>& batches) {
#ifdef FIXED
  RESULT r = all_reduce<tp>(terms, grid);
#else
  RESULT r = all_reduce<tp>(terms, batches);
#endif
  (void)grid, (void)batches;
}
