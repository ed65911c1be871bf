// MISTAKE: the losses of an epoch are added to a number, and each is an average: a sum and a count.
// RULE: R22
// EXPECT: ERROR_R22_average_becomes_a_number_by_mean_or_value<.*over<.*batch, .*seq
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void step(float& total) {
#ifdef FIXED
  total += cross_entropy<vocab>(logits, tokens).value();
#else
  total += cross_entropy<vocab>(logits, tokens);
#endif
}
