// MISTAKE: the squared error goes between log-probabilities and a teacher's probabilities.
// RULE: R5
// EXPECT: ERROR_R5_log_probabilities_meet_probabilities<.*mean_squared_error.*vocab
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

extern tensor<float, batch, seq, vocab, normalised<vocab>> teacher;

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = mean_squared_error(softmax<vocab>(logits), teacher);
#else
  [[maybe_unused]] const auto loss = mean_squared_error(log_softmax<vocab>(logits), teacher);
#endif
}
