// MISTAKE: a squared error is told twice that it averages over all documents.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*mean_squared_error
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void losses(const tensor<float, batch, seq, vocab>& teacher, const tensor<float, vocab>& rare,
            const tensor<float, batch, seq, vocab>& answers) {
#ifdef FIXED
  [[maybe_unused]] const auto loss = mean_squared_error(logits, answers, all_documents{});
#else
  [[maybe_unused]] const auto loss = mean_squared_error(logits, answers, all_documents{}, all_documents{});
#endif
}
