// MISTAKE: cosines and sines for each feature, where each pair has one.
// RULE: R9
// EXPECT: ERROR_R9_angles_do_not_belong_to_the_rotated_positions<.*rotary.*seq.*d_k
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct pairs : feature_dim<EXTENT(4)> {};
extern tensor<float, seq, pairs> cosines, sines;
extern tensor<float, seq, d_k> all_cosines, all_sines;

void layer() {
#ifdef FIXED
  RESULT r = rotary<seq, d_k>(q, cosines, sines);
#else
  RESULT r = rotary<seq, d_k>(q, all_cosines, all_sines);
#endif
}
