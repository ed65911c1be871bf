// MISTAKE: weights are assigned to a tensor that does not say so.
// RULE: R5
// EXPECT: ERROR_R5_declared_type_drops_or_invents_normalised<.*assign.*normalised<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(tensor<float, batch, heads, seq, key>& p) {
#ifdef FIXED
  p = plain(softmax<key>(s));
#else
  p = softmax<key>(s);
#endif
}
