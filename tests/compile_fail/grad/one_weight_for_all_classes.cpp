// MISTAKE: the alternatives are weighed by one weight for all of them.
// RULE: R22
// EXPECT: ERROR_R22_weights_have_other_dimensions<.*cross_entropy.*vocab
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

extern tensor<float, vocab> of_words;
extern tensor<float> of_all;

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(logits, tokens, class_weights(of_words));
#else
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(logits, tokens, class_weights(of_all));
#endif
}
