// MISTAKE: a seed is given where a distribution draws the weights.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*initialise.*int>
// VARIANTS: equal
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void begin(heads_attention& model) {
#ifdef FIXED
  nn::initialise(model, nn::xavier_uniform(42));
#else
  nn::initialise(model, 42);
#endif
}
