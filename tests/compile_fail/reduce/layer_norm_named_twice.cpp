// MISTAKE: the features of a norm are named twice.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*layer_norm.*d_model.*d_model
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = layer_norm<d_model>(x);
#else
  RESULT r = layer_norm<d_model, d_model>(x);
#endif
}
