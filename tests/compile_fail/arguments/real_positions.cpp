// MISTAKE: rotary at positions that are real numbers.
// RULE: R9
// EXPECT: ERROR_R9_angles_do_not_belong_to_the_rotated_positions<.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<float, seq> places;

void layer() {
#ifdef FIXED
  RESULT y = rotary<seq, d_k>(q, map([](float p) { return static_cast<int>(p); }, places));
#else
  RESULT y = rotary<seq, d_k>(q, places);
#endif
}
