// MISTAKE: the scales of blocks of d_v are taken for weights whose rows are d_model.
// RULE: R8
// EXPECT: ERROR_R8_neither_has_all_dimensions_of_the_other<.*dequantised.*d_v
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<std::int8_t, heads, d_model> stored;
extern tensor<float16, heads, blocks<d_model>> scales;
extern tensor<float16, heads, blocks<d_v>> of_other_rows;

void layer() {
#ifdef FIXED
  RESULT r = dequantised(stored, scales);
#else
  RESULT r = dequantised(stored, of_other_rows);
#endif
}
