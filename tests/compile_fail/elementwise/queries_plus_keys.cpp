// MISTAKE: queries and keys are added instead of contracted.
// RULE: R8
// EXPECT: ERROR_R8_neither_has_all_dimensions_of_the_other<.*seq.*key
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = scores<d_k>(q, k);
#else
  RESULT r = q + k;
#endif
}
