// MISTAKE: a loop asks for an extent by the number of its dimension.
// RULE: R1
// EXPECT: ERROR_R1_operation_has_another_name<.*shape.*extent_of
// VARIANTS: equal dynamic
#include "../prelude.hpp"

void step() {
#ifdef FIXED
  for (extent_t i = 0; i < extent_of<seq>(x); ++i) {}
#else
  for (extent_t i = 0; i < x.shape[1]; ++i) {}
#endif
}
