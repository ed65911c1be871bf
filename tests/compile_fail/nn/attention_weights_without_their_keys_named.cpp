// MISTAKE: attention weights name the features that the scores sum over, not the keys.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*attention_weights.*d_k
// VARIANTS: dynamic unused
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = nn::attention_weights<d_k, key>(q, k);
#else
  RESULT y = nn::attention_weights<d_k>(q, k);
#endif
}
