// MISTAKE: a cross-entropy is given its label smoothing twice.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*cross_entropy.*vocab
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void losses(const tensor<float, batch, seq, vocab>& teacher, const tensor<float, vocab>& rare,
            const tensor<float, batch, seq, vocab>& answers) {
#ifdef FIXED
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(logits, tokens, label_smoothing{0.1});
#else
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(logits, tokens, label_smoothing{0.1}, label_smoothing{0.2});
#endif
}
