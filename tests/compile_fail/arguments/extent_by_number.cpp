// MISTAKE: an extent is asked for by the number of its dimension.
// RULE: R1
// EXPECT: ERROR_R1_operation_has_another_name<.*size.*extent_of
// VARIANTS: equal dynamic
#include "../prelude.hpp"

void step() {
#ifdef FIXED
  [[maybe_unused]] const auto n = extent_of<seq>(x);
#else
  [[maybe_unused]] const auto n = x.size(1);
#endif
}
