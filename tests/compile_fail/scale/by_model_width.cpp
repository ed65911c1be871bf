// MISTAKE: scaled by the width of the model instead of the features that were contracted.
// RULE: R6
// EXPECT: ERROR_R6_scaled_names_the_contracted_features<.*d_model.*raw<
// FROM: 1/sqrt(d_model)
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = scaled<d_k>(contract<d_k>(q, k));
#else
  RESULT r = scaled<d_model>(contract<d_k>(q, k));
#endif
}
