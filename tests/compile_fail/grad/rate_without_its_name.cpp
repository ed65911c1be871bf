// MISTAKE: the rate of AdamW is a number without its name.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*adamw.*double
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train(const tensor<float, d_model>& model) {
#ifdef FIXED
  adamw optimiser(model, {.rate = 1e-3});
#else
  adamw optimiser(model, 1e-3);
#endif
}
