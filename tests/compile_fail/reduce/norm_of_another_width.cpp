// MISTAKE: the norm names the features of another layer.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*layer_norm.*d_ff
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = layer_norm<d_model>(x);
#else
  RESULT r = layer_norm<d_ff>(x);
#endif
}
