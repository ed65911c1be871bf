// MISTAKE: the words that the decoder must say are those of the encoder.
// RULE: R22
// EXPECT: ERROR_R22_targets_have_other_dimensions<.*cross_entropy.*src
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

extern tensor<id<vocab>, batch, src> source_words;

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(logits, tokens);
#else
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(logits, source_words);
#endif
}
