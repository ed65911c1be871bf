// MISTAKE: two sums over ranks are multiplied before they are reduced.
// RULE: R23
// EXPECT: ERROR_R23_partial_sums_are_multiplied<.*elementwise.*partial<.*tp.*partial<.*tp
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct tp : mesh_axis<2> {};
struct hidden : feature_dim<8> {};
using hidden_here = shard<hidden, tp>;

void gated(const tensor<float, batch, seq, hidden_here>& h, const tensor<float, batch, seq>& gate) {
  const auto y = sum<hidden_here>(h);
#ifdef FIXED
  RESULT r = y * gate;
#else
  RESULT r = y * y;
#endif
  (void)gate;
}
