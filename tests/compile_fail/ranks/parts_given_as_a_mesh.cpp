// MISTAKE: what gathers the parts of a layer is given to a collective instead of the mesh.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*all_gather.*tp.*hidden
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/ranks.hpp>
#include <dimwise/ranks/messages/gathered_parts.hpp>

struct tp : mesh_axis<2> {};
struct hidden : feature_dim<8> {};
using hidden_here = shard<hidden, tp>;

void gathers(const tensor<float, batch, hidden_here>& part, const ranks::mesh<tp>& grid) {
#ifdef FIXED
  RESULT r = all_gather<tp, hidden>(part, grid);
#else
  const ranks::gathered_parts<tp> parts(grid.along<tp>());
  RESULT r = all_gather<tp, hidden>(part, parts);
#endif
  (void)grid;
}
