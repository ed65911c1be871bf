// MISTAKE: the bound belongs to another layer.
// RULE: R8
// EXPECT: ERROR_R8_neither_has_all_dimensions_of_the_other<.*clamp.*d_model.*d_ff
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<float, d_model> own;
extern tensor<float, d_ff> other;

void choose() {
#ifdef FIXED
  RESULT y = clamp(x, -1.0F, own);
#else
  RESULT y = clamp(x, -1.0F, other);
#endif
}
