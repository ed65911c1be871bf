// MISTAKE: a model of which ranks divide a weight is initialised as if one rank had all of it: all parts are equal.
// RULE: R24
// EXPECT: ERROR_R24_draw_of_a_divided_model_takes_the_mesh<.*initialise.*tp
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/nn.hpp>
#include <dimwise/ranks.hpp>

struct tp : mesh_axis<2> {};
struct hidden : feature_dim<8> {};
using hidden_here = shard<hidden, tp>;
using up = nn::linear<nn::from<d_model>, nn::to<hidden_here>>;

void draws(up& layer, const ranks::mesh<tp>& grid) {
  nn::normal how(1);
#ifdef FIXED
  nn::initialise(layer, how, grid);
#else
  nn::initialise(layer, how);
#endif
  (void)grid;
}
