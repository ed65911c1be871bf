// MISTAKE: weights over the queries are declared as weights over the keys.
// RULE: R5
// EXPECT: ERROR_R5_declared_type_drops_or_invents_normalised<.*assign.*key.*seq
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  tensor<float, batch, heads, seq, key, normalised<key>> p = softmax<key>(s);
#else
  tensor<float, batch, heads, seq, key, normalised<key>> p = softmax<seq>(s);
#endif
}
