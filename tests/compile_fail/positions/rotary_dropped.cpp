// MISTAKE: rotated keys are stored in a cache that does not say so.
// RULE: R9
// EXPECT: ERROR_R9_declared_type_drops_or_invents_rotated<.*assign.*rotated<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  tensor<float, batch, key, heads, d_k, rotated<d_k, seq>> cache = rotary<key, d_k>(k);
#else
  tensor<float, batch, key, heads, d_k> cache = rotary<key, d_k>(k);
#endif
}
