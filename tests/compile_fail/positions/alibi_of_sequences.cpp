// MISTAKE: the slopes of ALiBi for each sequence of the batch instead of each head.
// RULE: R7
// EXPECT: ERROR_R7_alibi_has_a_slope_for_each_head<.*batch
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = softmax<key>(biased(s, alibi<seq, key, heads>{}));
#else
  RESULT y = softmax<key>(biased(s, alibi<seq, key, batch>{}));
#endif
}
