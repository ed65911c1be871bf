// MISTAKE: a divergence is given two temperatures.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*kl_divergence.*vocab
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void losses(const tensor<float, batch, seq, vocab>& teacher, const tensor<float, vocab>& rare,
            const tensor<float, batch, seq, vocab>& answers) {
#ifdef FIXED
  [[maybe_unused]] const auto loss = kl_divergence<vocab>(logits, teacher, temperature{2});
#else
  [[maybe_unused]] const auto loss = kl_divergence<vocab>(logits, teacher, temperature{2}, temperature{3});
#endif
}
