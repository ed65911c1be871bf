// MISTAKE: a dimension that is whole on every rank is gathered.
// RULE: R24
// EXPECT: ERROR_R24_operand_has_no_such_shard<.*all_gather.*tp.*hidden
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/ranks/collectives.hpp>

struct tp : mesh_axis<2> {};
struct hidden : feature_dim<8> {};
using hidden_here = shard<hidden, tp>;

void gathers(const tensor<float, batch, hidden_here>& part, const tensor<float, batch, hidden>& whole,
             const ranks::mesh<tp>& grid) {
#ifdef FIXED
  RESULT r = all_gather<tp, hidden>(part, grid);
#else
  RESULT r = all_gather<tp, hidden>(whole, grid);
#endif
  (void)part, (void)whole;
}
