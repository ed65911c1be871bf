// MISTAKE: scaled by the number of heads.
// RULE: R6
// EXPECT: ERROR_R6_scaled_names_the_contracted_features<.*heads.*raw<
// FROM: 1/sqrt(num_heads)
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = scaled<d_k>(contract<d_k>(q, k));
#else
  RESULT r = scaled<heads>(contract<d_k>(q, k));
#endif
}
