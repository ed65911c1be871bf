// MISTAKE: attention is given queries and keys alone.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*op::attention,.*d_k
// VARIANTS: dynamic unused
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = nn::attention<d_k, key>(q, k, v);
#else
  RESULT y = nn::attention<d_k, key>(q, k);
#endif
}
