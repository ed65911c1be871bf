// MISTAKE: attention over a part of the keys is given scores alone.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*partial_attention
// VARIANTS: dynamic unused
#include "cache_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = partial_attention<key>(scores<d_k>(q, k), v).output;
#else
  RESULT y = partial_attention<key>(scores<d_k>(q, k));
#endif
}
