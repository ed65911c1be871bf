// MISTAKE: the declared type forgets that keys are rotated.
// RULE: R9
// EXPECT: ERROR_R9_declared_type_drops_or_invents_rotated<.*assign.*rotated<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(const tensor<float, batch, key, heads, d_k, rotated<d_k, seq>>& turned) {
#ifdef FIXED
  tensor<float, batch, key, heads, d_k, rotated<d_k, seq>> stored = turned;
#else
  tensor<float, batch, key, heads, d_k> stored = turned;
#endif
}
