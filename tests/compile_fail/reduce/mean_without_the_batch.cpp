// MISTAKE: the mean of one sequence goes over the batch as well, in a function of a function.
// RULE: R1
// LINES(clang): 13
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*mean.*batch
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<float, seq, d_model> sentence;

auto pooled(const auto& t) {
#ifdef FIXED
  return mean<seq>(t);
#else
  return mean<batch, seq>(t);
#endif
}
auto encoded(const auto& t) { return pooled(t); }

void step() { RESULT y = encoded(sentence); }
