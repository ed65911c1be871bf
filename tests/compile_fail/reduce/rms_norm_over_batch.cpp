// MISTAKE: rms_norm goes over the batch.
// RULE: R13
// EXPECT: ERROR_R13_norm_takes_features<.*rms_norm.*batch
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(const tensor<float, d_model>& gamma) {
#ifdef FIXED
  RESULT r = rms_norm<d_model>(x, gamma);
#else
  RESULT r = rms_norm<batch>(x, gamma);
#endif
}
