// MISTAKE: scores of queries and a number.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*scores.*d_k
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = scores<d_k>(q, k);
#else
  RESULT y = scores<d_k>(q, 3);
#endif
}
