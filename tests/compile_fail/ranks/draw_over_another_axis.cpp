// MISTAKE: a model is initialised over a mesh that lacks the axis of its parameters.
// RULE: R25
// EXPECT: ERROR_R25_mesh_has_no_such_axis<.*initialise.*tp
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/nn.hpp>
#include <dimwise/ranks.hpp>

struct tp : mesh_axis<2> {};
struct dp : mesh_axis<> {};
struct hidden : feature_dim<8> {};
using hidden_here = shard<hidden, tp>;
using up = nn::linear<nn::from<d_model>, nn::to<hidden_here>>;

void draws(up& layer, const ranks::mesh<dp>& batches, const ranks::mesh<dp, tp>& grid) {
  nn::normal how(1);
#ifdef FIXED
  nn::initialise(layer, how, grid);
#else
  nn::initialise(layer, how, batches);
#endif
  (void)batches, (void)grid;
}
