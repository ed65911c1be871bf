// MISTAKE: the gradient of a divided weight is clipped by the norm of this rank's part.
// RULE: R24
// EXPECT: ERROR_R24_norm_of_a_divided_model_takes_the_mesh<.*clip_norm.*tp
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/ranks/training.hpp>

struct tp : mesh_axis<2> {};
struct hidden : feature_dim<8> {};
using hidden_here = shard<hidden, tp>;

void clips(const tensor<float, d_model, hidden_here>& gradient, const ranks::mesh<tp>& grid) {
#ifdef FIXED
  RESULT clipped = clip_norm(gradient, 1.0, grid);
#else
  RESULT clipped = clip_norm(gradient, 1.0);
#endif
  (void)grid;
}
