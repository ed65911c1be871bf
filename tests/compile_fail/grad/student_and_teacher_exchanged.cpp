// MISTAKE: the teacher is given as the student, so that the student's logits are the target.
// RULE: R22
// EXPECT: ERROR_R22_student_and_teacher_are_exchanged<.*kl_divergence.*vocab
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

extern tensor<float, batch, seq, vocab> teacher;
extern tensor<tracked<float>, batch, seq, vocab> student;

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = kl_divergence<vocab>(student, teacher);
  [[maybe_unused]] const auto learning_teacher = kl_divergence<vocab>(student, student * 2);
  [[maybe_unused]] const auto reverse =
      sum<vocab>(softmax<vocab>(student) * (log_softmax<vocab>(student) - log_softmax<vocab>(teacher)));
#else
  [[maybe_unused]] const auto loss = kl_divergence<vocab>(teacher, student);
#endif
}
