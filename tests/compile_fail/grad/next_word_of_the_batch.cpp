// MISTAKE: the next word is looked for in the next example.
// RULE: R13
// EXPECT: ERROR_R13_needs_ordered_positions<.*next_word_loss.*batch
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = next_word_loss<seq>(logits, tokens);
#else
  [[maybe_unused]] const auto loss = next_word_loss<batch>(logits, tokens);
#endif
}
