// MISTAKE: an extent where `along` belongs.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*contract.*d_k
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = contract<d_k>(q, q, along<seq>{});
#else
  RESULT y = contract<d_k>(q, q, seq{});
#endif
}
