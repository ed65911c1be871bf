// MISTAKE: a module is given slopes for each sequence.
// RULE: R7
// EXPECT: ERROR_R7_alibi_has_a_slope_for_each_head<.*batch
// VARIANTS: unused
#include "../prelude.hpp"

void layer() {
#ifdef FIXED
  RESULT y = nn::attention<d_k, key>(q, k, v, alibi<seq, key, heads>{});
#else
  RESULT y = nn::attention<d_k, key>(q, k, v, alibi<seq, key, batch>{});
#endif
}
