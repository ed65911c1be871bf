// MISTAKE: a square weight is applied the wrong way round: its output side is contracted.
// RULE: R12
// EXPECT: ERROR_R12_weight_is_applied_the_wrong_way_round<.*out<
// FROM: weight stored (out,in) used as (in,out)
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<float, d_model, out<d_model>>& w) {
#ifdef FIXED
  RESULT r = contract<d_model>(x, w);
#else
  RESULT r = contract<out<d_model>>(x, w);
#endif
}
