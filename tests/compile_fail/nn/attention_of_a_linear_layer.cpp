// MISTAKE: self-attention by a linear layer, which takes one operand.
// RULE: R1
// EXPECT: ERROR_R1_module_takes_other_arguments<.*linear<
// VARIANTS: unused
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  const nn::self_attention<seq, key, heads_attention> layer;
#else
  const nn::self_attention<seq, key, nn::linear<nn::from<d_model>, nn::to<d_ff>, nn::no_bias, double>> layer;
#endif
  RESULT y = layer(x);
}
