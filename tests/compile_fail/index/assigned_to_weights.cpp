// MISTAKE: one position of attention weights is written, so that they no longer sum to one.
// RULE: R5
// EXPECT: ERROR_R5_declared_type_drops_or_invents_normalised<.*assign_at
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(tensor<float, batch, heads, seq, key, normalised<key>>& weights,
               const tensor<float, batch, heads, seq>& w) {
#ifdef FIXED
  tensor changed = replace_at<key>(plain(weights), 0, w);
#else
  assign_at<key>(weights, 0, w);
#endif
}
