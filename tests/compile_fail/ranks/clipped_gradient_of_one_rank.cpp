// MISTAKE: each rank clips its terms of the gradient by their own norm, before the reduction.
// RULE: R23
// EXPECT: ERROR_R23_gradient_is_reduced_first<.*clip_norm.*dp
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/ranks/training.hpp>

struct dp : mesh_axis<2> {};
struct examples : batch_dim<8> {};
using examples_here = shard<examples, dp>;

void train(tensor<float, d_model>& w, const tensor<float, examples_here, d_model>& part, const ranks::mesh<dp>& grid) {
  const auto g = gradient(w, [&](const auto& p) { return mean<examples_here>(contract<d_model>(part, p)); });
#ifdef FIXED
  RESULT clipped = clip_norm(all_reduce<dp>(g, grid), 1.0);
#else
  RESULT clipped = clip_norm(g, 1.0);
#endif
  (void)grid, (void)g;
}
