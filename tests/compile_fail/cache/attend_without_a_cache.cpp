// MISTAKE: attention over a cache is given queries, keys and values.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*attend
// VARIANTS: dynamic unused
#include "cache_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = nn::attention<d_k, key>(q, k, v);
#else
  RESULT y = nn::attend<seq>(q, k, v);
#endif
}
