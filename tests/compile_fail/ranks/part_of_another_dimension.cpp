// MISTAKE: the part of a weight is taken along a dimension that the weight does not have.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*part_of.*hidden
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/ranks/parts.hpp>

struct tp : mesh_axis<2> {};
struct hidden : feature_dim<8> {};
using hidden_here = shard<hidden, tp>;

void parts(const tensor<float, d_model, hidden>& up, const tensor<float, d_model, d_v>& other,
           const ranks::mesh<tp>& grid) {
#ifdef FIXED
  RESULT mine = part_of<hidden_here>(up, grid);
#else
  RESULT mine = part_of<hidden_here>(other, grid);
#endif
  (void)up, (void)other;
}
