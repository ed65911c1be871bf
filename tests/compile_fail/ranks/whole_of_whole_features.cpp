// MISTAKE: a tensor without a part of the dimension is made whole.
// RULE: R24
// EXPECT: ERROR_R24_operand_has_no_such_shard<.*whole.*tp.*hidden
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/ranks/messages/gathered_parts.hpp>

struct tp : mesh_axis<2> {};
struct hidden : feature_dim<8> {};
using hidden_here = shard<hidden, tp>;

void gathers(const tensor<float, batch, hidden_here>& part, const tensor<float, batch, hidden>& complete,
             const tensor<tracked<float>, batch, hidden_here>& tracked_part, const ranks::gathered_parts<tp>& parts) {
#ifdef FIXED
  RESULT r = parts.whole<hidden>(part);
#else
  RESULT r = parts.whole<hidden>(complete);
#endif
  (void)part, (void)complete, (void)tracked_part;
}
