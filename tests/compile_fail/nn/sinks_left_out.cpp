// MISTAKE: attention with sinks is given no sinks.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*attention_with_sinks.*d_k
// VARIANTS: dynamic unused
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer([[maybe_unused]] const tensor<float, heads>& sinks) {
#ifdef FIXED
  RESULT y = nn::attention_with_sinks<d_k, key>(q, k, v, sinks);
#else
  RESULT y = nn::attention_with_sinks<d_k, key>(q, k, v);
#endif
}
