// MISTAKE: the bias belongs to another layer.
// RULE: R8
// EXPECT: ERROR_R8_neither_has_all_dimensions_of_the_other<.*d_model.*d_ff
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(const tensor<float, d_ff>& bias, const tensor<float, d_model, d_ff>& w_1) {
#ifdef FIXED
  RESULT r = contract<d_model>(x, w_1) + bias;
#else
  RESULT r = x + bias;
#endif
}
