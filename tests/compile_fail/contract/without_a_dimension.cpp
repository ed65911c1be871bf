// MISTAKE: a product of matrices without a name: what is summed over?
// RULE: R1
// EXPECT: ERROR_R1_operation_names_its_dimension<.*contract.*seq.*d_model.*heads.*d_k
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void project() {
#ifdef FIXED
  RESULT r = contract<d_model>(x, w_q);
#else
  RESULT r = contract(x, w_q);
#endif
}
