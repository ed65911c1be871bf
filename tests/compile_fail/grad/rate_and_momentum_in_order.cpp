// MISTAKE: SGD is given its rate and its momentum by their order.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*sgd.*double.*double
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train(const tensor<float, d_model>& model) {
#ifdef FIXED
  sgd optimiser(model, {.rate = 0.1, .momentum = 0.9});
#else
  sgd optimiser(model, 0.1, 0.9);
#endif
}
