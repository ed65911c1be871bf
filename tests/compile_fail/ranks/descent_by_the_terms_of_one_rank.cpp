// MISTAKE: a step of gradient descent is written out, with this rank's terms of the gradient.
// RULE: R23
// EXPECT: ERROR_R23_gradient_is_reduced_first<.*elementwise.*dp
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
  const auto change = all_reduce<dp>(g, grid) * 0.25F;
#else
  const auto change = g * 0.25F;
#endif
  (void)grid, (void)g, (void)w;
}
