// MISTAKE: the declared type forgets that weights sum to one.
// RULE: R5
// EXPECT: ERROR_R5_declared_type_drops_or_invents_normalised<.*assign.*normalised<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  tensor<float, batch, heads, seq, key, normalised<key>> p = softmax<key>(s);
#else
  tensor<float, batch, heads, seq, key> p = softmax<key>(s);
#endif
}
