// MISTAKE: rotary goes over all heads packed into one dimension, before they are split.
// RULE: R9
// EXPECT: ERROR_R9_rotary_takes_positions_and_the_features_of_a_head<.*rotary.*merged<
// FROM: rotation over full model width instead of head features
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(const tensor<float, batch, seq, merged<heads, d_k>>& packed) {
#ifdef FIXED
  RESULT r = rotary<seq, d_k>(split<heads, d_k>(packed));
#else
  RESULT r = rotary<seq, merged<heads, d_k>>(packed);
#endif
}
