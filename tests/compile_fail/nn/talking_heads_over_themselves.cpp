// MISTAKE: talking heads attend to the positions of the queries.
// RULE: R2
// EXPECT: ERROR_R2_shared_dimension_is_not_parallel<.*scores.*seq
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = talking(x, memory, memory);
#else
  RESULT y = talking(x, x, x);
#endif
}
