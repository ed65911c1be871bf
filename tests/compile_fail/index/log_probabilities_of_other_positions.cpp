// MISTAKE: the targets are looked up in log-probabilities that are normalised over the positions.
// RULE: R5
// EXPECT: ERROR_R5_log_probabilities_are_taken_along_their_own_dimension<.*gather.*vocab.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT picked = gather<vocab>(log_softmax<vocab>(logits), tokens);
#else
  RESULT picked = gather<vocab>(log_softmax<seq>(logits), tokens);
#endif
}
