// MISTAKE: the sinks are one for each key, not for each head.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*attention_with_sinks.*over<.*src.*operand_shape<.*heads
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<float, heads> sinks_of_heads;
extern tensor<float, src> sinks_of_keys;

void layer() {
#ifdef FIXED
  RESULT y = nn::attention_with_sinks<d_k, src>(q, k_src, v_src, sinks_of_heads);
#else
  RESULT y = nn::attention_with_sinks<d_k, src>(q, k_src, v_src, sinks_of_keys);
#endif
}
