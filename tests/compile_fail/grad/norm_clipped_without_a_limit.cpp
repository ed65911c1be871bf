// MISTAKE: the norm of a gradient is clipped without its limit.
// RULE: R1
// EXPECT: ERROR_R1_argument_is_missing<.*clip_norm.*limit
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void step(const tensor<float, d_model, out<d_model>>& gradient) {
#ifdef FIXED
  auto clipped = clip_norm(gradient, 1.0);
#else
  auto clipped = clip_norm(gradient);
#endif
  (void)clipped;
}
