// MISTAKE: examples of the batch attend to each other: the sequence was taken to come first.
// RULE: R13
// EXPECT: ERROR_R13_softmax_takes_attendable_or_choice<.*other_batch
// FROM: self-attention across the batch (batch_first)
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct other_batch : prime<batch> {};

void attention() {
#ifdef FIXED
  RESULT r = softmax<key>(scores<d_k>(q, k));
#else
  RESULT r = softmax<other_batch>(scores<d_k>(q, rename<batch, other_batch>(k)));
#endif
}
