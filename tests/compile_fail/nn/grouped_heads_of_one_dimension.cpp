// MISTAKE: the heads of the keys are also the group of each.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*multi_head_attention.*over<.*heads
// VARIANTS: unused
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  const nn::multi_head_attention<d_model, nn::grouped_heads<heads, group_of>, d_k, d_v> layer;
#else
  const nn::multi_head_attention<d_model, nn::grouped_heads<heads, heads>, d_k, d_v> layer;
#endif
  RESULT y = layer(x, memory, memory);
}
