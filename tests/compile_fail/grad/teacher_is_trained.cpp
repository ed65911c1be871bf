// MISTAKE: the teacher of a divergence is part of the model, and its gradient would be lost.
// RULE: R21
// EXPECT: ERROR_R21_operation_has_no_gradient<.*kl_divergence
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

extern tensor<tracked<float>, batch, seq, vocab> student, teacher;

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = kl_divergence<vocab>(student, detached(teacher));
#else
  [[maybe_unused]] const auto loss = kl_divergence<vocab>(student, teacher);
#endif
}
