// MISTAKE: the next-token loss is given two weights of the classes.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*next_word_loss.*seq
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void losses(const tensor<float, batch, seq, vocab>& teacher, const tensor<float, vocab>& rare,
            const tensor<float, batch, seq, vocab>& answers) {
#ifdef FIXED
  [[maybe_unused]] const auto loss = next_word_loss<seq>(logits, tokens, class_weights(rare));
#else
  [[maybe_unused]] const auto loss = next_word_loss<seq>(logits, tokens, class_weights(rare), class_weights(rare));
#endif
}
