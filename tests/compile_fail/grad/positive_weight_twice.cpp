// MISTAKE: a binary cross-entropy is given two weights of the positive answers.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*binary_cross_entropy
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void losses(const tensor<float, batch, seq, vocab>& teacher, const tensor<float, vocab>& rare,
            const tensor<float, batch, seq, vocab>& answers) {
#ifdef FIXED
  [[maybe_unused]] const auto loss = binary_cross_entropy(logits, answers, positive_weight(2));
#else
  [[maybe_unused]] const auto loss = binary_cross_entropy(logits, answers, positive_weight(2), positive_weight(3));
#endif
}
