// MISTAKE: a linear layer is converted whose element type is given in the place of its bias.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*linear.*over<float.*declared<.*argument::bias
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/nn/model.hpp>

void convert() {
#ifdef FIXED
  const nn::linear<nn::from<d_model>, nn::to<d_ff>, nn::no_bias, float> layer;
#else
  const nn::linear<nn::from<d_model>, nn::to<d_ff>, float> layer;
#endif
  [[maybe_unused]] const auto wide = converted<double>(layer);
}
