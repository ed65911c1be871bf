// MISTAKE: documents of positions that are not packed, which the scores lack, too.
// RULE: R19
// EXPECT: ERROR_R19_packed_positions_need_their_documents<.*document.*src
// VARIANTS: unused
#include "../prelude.hpp"

void layer() {
#ifdef FIXED
  RESULT y = softmax<key>(masked(s, causal<seq, key>{}));
#else
  RESULT y = softmax<key>(masked(s, document<src, key>{}));
#endif
}
