// MISTAKE: the product of an input and a weight, without naming what is summed.
// RULE: R2
// EXPECT: ERROR_R2_shared_dimension_is_not_parallel<.*outer.*d_model
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = contract<d_model>(x, w_q);
#else
  RESULT r = outer(x, w_q);
#endif
}
