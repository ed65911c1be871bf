// MISTAKE: a fused projection is cut by numbers instead of names.
// RULE: R4
// EXPECT: ERROR_R4_composite_has_other_factors_or_order<.*slice.*summed<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct d_q : feature_dim<8> {};
using fused = summed<d_q, d_k>;

void layer(const tensor<float, batch, seq, fused>& qk) {
#ifdef FIXED
  RESULT r = part<d_k>(qk);
#else
  RESULT r = slice<fused, d_k>(qk, 0);
#endif
}
