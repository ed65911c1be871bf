// MISTAKE: the target distribution of a cross-entropy is part of the model, and its gradient would be lost.
// RULE: R21
// EXPECT: ERROR_R21_operation_has_no_gradient<.*cross_entropy
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

extern tensor<tracked<float>, batch, seq, vocab> student, teacher;

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(student, detached(teacher));
#else
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(student, teacher);
#endif
}
