// MISTAKE: a contraction over a type that is not a dimension.
// RULE: R1
// EXPECT: ERROR_R1_operation_names_its_dimension<.*contract.*width
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct width {};

void layer() {
#ifdef FIXED
  RESULT r = contract<d_model>(x, w_q);
#else
  RESULT r = contract<width>(x, w_q);
#endif
}
