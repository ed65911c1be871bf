// MISTAKE: the gain and shift of layer_norm belong to another layer.
// RULE: R8
// EXPECT: ERROR_R8_neither_has_all_dimensions_of_the_other<.*d_model.*d_ff
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(const tensor<float, d_model>& gamma, const tensor<float, d_ff>& other) {
#ifdef FIXED
  RESULT r = layer_norm<d_model>(x, gamma, gamma);
#else
  RESULT r = layer_norm<d_model>(x, other, other);
#endif
}
