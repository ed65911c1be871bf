// MISTAKE: softmax over the positions instead of the vocabulary, then the mean embedding.
// RULE: R5
// EXPECT: ERROR_R5_weights_are_contracted_over_their_own_dimension<.*contract.*vocab.*normalised<.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void soft_embedding() {
#ifdef FIXED
  RESULT y = contract<vocab>(softmax<vocab>(logits), embedding);
#else
  RESULT y = contract<vocab>(softmax<seq>(logits), embedding);
#endif
}
