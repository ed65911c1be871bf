// MISTAKE: a mean over nothing that is named.
// RULE: R1
// EXPECT: ERROR_R1_operation_names_its_dimension<.*mean.*seq.*d_model
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void pool_all() {
#ifdef FIXED
  RESULT r = mean<batch, seq, d_model>(x);
#else
  RESULT r = mean(x);
#endif
}
