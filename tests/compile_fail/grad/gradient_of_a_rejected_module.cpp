// MISTAKE: the gradient of a linear layer whose element type is given in the place of its bias.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*linear.*over<float.*declared<.*argument::bias
#include "../nn/nn_prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

void train() {
#ifdef FIXED
  const nn::linear<nn::from<d_model>, nn::to<d_ff>, nn::no_bias, float> layer;
#else
  const nn::linear<nn::from<d_model>, nn::to<d_ff>, float> layer;
#endif
  auto both = value_and_gradient(layer, [](const auto& l) { return mean<batch, seq, d_ff>(l(x)); });
}
