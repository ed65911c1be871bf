// MISTAKE: the sinks are of merged heads, and the queries have the heads apart.
// RULE: R4
// EXPECT: ERROR_R4_composite_has_other_factors_or_order<.*attention_with_sinks.*merged.*heads
// VARIANTS: unused
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

using pairs = merged<heads, kv_heads>;

void layer([[maybe_unused]] const tensor<float, heads>& sinks_of_heads,
           [[maybe_unused]] const tensor<float, pairs>& sinks_of_pairs) {
#ifdef FIXED
  RESULT y = nn::attention_with_sinks<d_k, src>(q, k_src, v_src, sinks_of_heads);
#else
  RESULT y = nn::attention_with_sinks<d_k, src>(q, k_src, v_src, sinks_of_pairs);
#endif
}
