// MISTAKE: Adam takes the settings of SGD.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*adam.*sgd_settings
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train(const tensor<float, d_model>& model) {
#ifdef FIXED
  const adam<tensor<float, d_model>> optimiser(model, adam_settings{});
#else
  const adam<tensor<float, d_model>> optimiser(model, sgd_settings{});
#endif
}
