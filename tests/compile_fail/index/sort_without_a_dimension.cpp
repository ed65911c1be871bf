// MISTAKE: the dimension is left out.
// RULE: R1
// EXPECT: ERROR_R1_operation_names_its_dimension<.*sort
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = sort<seq>(x);
#else
  RESULT r = sort(x);
#endif
}
