// MISTAKE: the values are rotated, too.
// RULE: R9
// EXPECT: ERROR_R9_values_are_not_rotated<.*rotated<
// FROM: rotated twice / value rotated
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = contract<key>(a, v);
#else
  RESULT r = contract<key>(a, rotary<key, d_v>(v));
#endif
}
