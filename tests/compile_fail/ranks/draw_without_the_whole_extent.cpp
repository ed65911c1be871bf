// MISTAKE: a divided model is initialised without the whole run-time extent: each part would have no elements.
// RULE: R15
// EXPECT: ERROR_R15_run_time_extents_are_given_once<.*initialise.*hidden
// VARIANTS: equal
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/nn.hpp>
#include <dimwise/ranks.hpp>

struct tp : mesh_axis<2> {};
struct hidden : feature_dim<> {};
using hidden_here = shard<hidden, tp>;
using up = nn::linear<nn::from<d_model>, nn::to<hidden_here>>;

void draws(up& layer, const ranks::mesh<tp>& grid) {
  nn::normal how(1);
#ifdef FIXED
  nn::initialise(layer, how, grid, hidden{8});
#else
  nn::initialise(layer, how, grid);
#endif
}
