// MISTAKE: the next token is taken from positions and vocabulary flattened together.
// RULE: R13
// EXPECT: ERROR_R13_softmax_takes_attendable_or_choice<.*argmax.*merged<
// FROM: (seq,vocab) logits sampled as (vocab)
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = argmax<vocab>(logits);
#else
  RESULT r = argmax<merged<seq, vocab>>(merge<seq, vocab>(logits));
#endif
}
