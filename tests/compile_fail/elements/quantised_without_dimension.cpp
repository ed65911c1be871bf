// MISTAKE: inputs are rounded in blocks, but along which dimension is not said.
// RULE: R1
// EXPECT: ERROR_R1_operation_names_its_dimension<.*quantised
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = quantised<d_model>(x);
#else
  RESULT r = quantised(x);
#endif
}
