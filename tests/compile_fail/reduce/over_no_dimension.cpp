// MISTAKE: a sum over a type that is not a dimension.
// RULE: R1
// EXPECT: ERROR_R1_operation_names_its_dimension<.*sum.*int
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = sum<seq>(x);
#else
  RESULT r = sum<int>(x);
#endif
}
