// MISTAKE: 4-bit numbers of which only the program knows how many there are, without saying it.
// RULE: R15
// EXPECT: ERROR_R15_run_time_extents_are_given_once<.*dequantised.*wide
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct wide : feature_dim<> {};

extern tensor<int4_pair, batch, half<wide>> packed;
extern tensor<float> scale;

void layer() {
#ifdef FIXED
  RESULT y = dequantised<wide>(packed, scale, wide{8});
#else
  RESULT y = dequantised<wide>(packed, scale);
#endif
}
