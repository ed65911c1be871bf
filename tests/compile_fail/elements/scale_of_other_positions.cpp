// MISTAKE: stored keys are scaled by the scales of the queries.
// RULE: R8
// EXPECT: ERROR_R8_neither_has_all_dimensions_of_the_other<.*dequantised.*key.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<std::int8_t, batch, key, heads, d_k> stored;
extern tensor<float, batch, key, heads> scales;
extern tensor<float, batch, seq, heads> query_scales;

void layer() {
#ifdef FIXED
  RESULT r = dequantised(stored, scales);
#else
  RESULT r = dequantised(stored, query_scales);
#endif
}
