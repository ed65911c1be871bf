// MISTAKE: an extent is read from the shape by its number.
// RULE: R1
// EXPECT: ERROR_R1_operation_has_another_name<.*shape.*extent_of
// VARIANTS: equal dynamic
#include "../prelude.hpp"

void step() {
#ifdef FIXED
  [[maybe_unused]] const auto n = extent_of<seq>(x);
#else
  [[maybe_unused]] const auto n = x.shape[1];
#endif
}
