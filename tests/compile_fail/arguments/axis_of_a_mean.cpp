// MISTAKE: a mean over the first dimension, by its number.
// RULE: R1
// EXPECT: ERROR_R1_operation_names_its_dimension<.*mean.*0
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = mean<batch>(x);
#else
  RESULT y = mean<0>(x);
#endif
}
