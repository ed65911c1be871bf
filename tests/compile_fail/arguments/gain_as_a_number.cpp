// MISTAKE: a layer norm whose gain is a number.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*layer_norm.*d_model
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = layer_norm<d_model>(x, 1e-6);
#else
  RESULT y = layer_norm<d_model>(x, 1.0F, 0.0F);
#endif
}
