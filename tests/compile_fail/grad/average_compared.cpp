// MISTAKE: a loss is compared with a number, and it is an average: a sum and a count.
// RULE: R22
// EXPECT: ERROR_R22_average_becomes_a_number_by_mean_or_value<.*over<.*batch, .*seq
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

bool ended() {
#ifdef FIXED
  return cross_entropy<vocab>(logits, tokens).value() < 0.1F;
#else
  return cross_entropy<vocab>(logits, tokens) < 0.1F;
#endif
}
