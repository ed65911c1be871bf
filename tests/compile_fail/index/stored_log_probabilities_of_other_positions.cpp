// MISTAKE: the targets are looked up in stored log-probabilities that are normalised over the positions.
// RULE: R5
// EXPECT: ERROR_R5_log_probabilities_are_taken_along_their_own_dimension<.*gather.*vocab.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  const tensor stored = log_softmax<vocab>(logits);
#else
  const tensor stored = log_softmax<seq>(logits);
#endif
  RESULT picked = gather<vocab>(stored, tokens);
}
