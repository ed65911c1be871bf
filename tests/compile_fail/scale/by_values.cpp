// MISTAKE: scaled by the features of the values.
// RULE: R6
// EXPECT: ERROR_R6_scaled_names_the_contracted_features<.*d_v.*raw<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = scaled<d_k>(contract<d_k>(q, k));
#else
  RESULT r = scaled<d_v>(products);
#endif
}
