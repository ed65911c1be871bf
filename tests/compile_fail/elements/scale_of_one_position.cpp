// MISTAKE: stored keys are scaled by the scale of the first position.
// RULE: R18
// EXPECT: ERROR_R18_single_element_meets_its_whole_dimension<.*dequantised.*key.*indexed<.*key
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<std::int8_t, batch, key, heads, d_k> stored;
extern tensor<float, batch, key, heads> scales;

void layer() {
#ifdef FIXED
  RESULT r = dequantised(stored, scales);
#else
  RESULT r = dequantised(stored, at<key>(scales, 0));
#endif
}
