// MISTAKE: a loss is printed that is not divided by its count yet.
// RULE: R22
// EXPECT: ERROR_R22_average_becomes_a_number_by_mean_or_value<.*batch.*seq
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

#include <iostream>

void show() {
#ifdef FIXED
  std::cout << cross_entropy<vocab>(logits, tokens).value();
#else
  std::cout << cross_entropy<vocab>(logits, tokens);
#endif
}
