// MISTAKE: a loss is multiplied by a tensor, and it is an average: a sum and a count.
// RULE: R22
// EXPECT: ERROR_R22_average_becomes_a_number_by_mean_or_value<.*over<.*batch, .*seq
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void step() {
#ifdef FIXED
  RESULT y = x * cross_entropy<vocab>(logits, tokens).mean();
#else
  RESULT y = x * cross_entropy<vocab>(logits, tokens);
#endif
}
