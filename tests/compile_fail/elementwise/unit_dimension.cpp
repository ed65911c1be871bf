// MISTAKE: a dimension of extent 1 does not stretch.
// RULE: R8
// EXPECT: ERROR_R8_neither_has_all_dimensions_of_the_other<.*unit
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct unit : dimension<ability::none, 1> {};

void layer(const tensor<float, unit, d_model>& row, const tensor<float, d_model>& bias) {
#ifdef FIXED
  RESULT r = x + bias;
#else
  RESULT r = x + row;
#endif
}
