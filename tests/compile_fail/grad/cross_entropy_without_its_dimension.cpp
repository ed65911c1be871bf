// MISTAKE: the loss is not told which dimension holds the alternatives.
// RULE: R1
// EXPECT: ERROR_R1_operation_names_its_dimension<.*cross_entropy
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train() {
#ifdef FIXED
  [[maybe_unused]] const auto loss = cross_entropy<vocab>(logits, tokens);
#else
  [[maybe_unused]] const auto loss = cross_entropy(logits, tokens);
#endif
}
