// MISTAKE: a layer has an element type in the place of its bias; the gradient of a block of it adds no error.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*linear.*over<float.*declared<.*argument::bias
#include "../nn/nn_prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>
#include <dimwise/nn/model.hpp>

void train() {
#ifdef FIXED
  using layer = nn::linear<nn::from<d_model>, nn::to<d_model>, nn::no_bias, float>;
#else
  using layer = nn::linear<nn::from<d_model>, nn::to<d_model>, float>;
#endif
  const layer alone;
  const nn::transformer_block<own_attention, layer, feature_norm> block;
  auto both = value_and_gradient(block, [](const auto& b) { return mean<batch, seq, d_model>(square(b(x))); });
  [[maybe_unused]] const auto wide = converted<double>(block);
}
