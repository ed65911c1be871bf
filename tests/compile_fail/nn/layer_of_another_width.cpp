// MISTAKE: the feed-forward layers of an encoder layer are of another width than its attention.
// RULE: R1
// EXPECT: ERROR_R1_contracted_dimension_is_not_in_both<.*d_ff
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = nn::encoder_layer<own_attention, two_layers, feature_norm>{}(x);
#else
  RESULT y = nn::encoder_layer<own_attention, nn::feed_forward<d_ff, d_model>, feature_norm>{}(x);
#endif
}
