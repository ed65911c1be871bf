// MISTAKE: the values are rotated like the keys.
// RULE: R9
// EXPECT: ERROR_R9_values_are_not_rotated<.*rotated<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<float, batch, key, heads, d_v, rotated<d_v, seq>>& turned) {
#ifdef FIXED
  RESULT r = contract<key>(a, v);
#else
  RESULT r = contract<key>(a, turned);
#endif
}
