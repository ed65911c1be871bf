// MISTAKE: a function of three operands, none of which has all dimensions.
// RULE: R8
// EXPECT: ERROR_R8_neither_has_all_dimensions_of_the_other<.*map
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(const tensor<float, d_model>& bias) {
  const auto join = [](float f, float g, float h) { return f * g + h; };
#ifdef FIXED
  RESULT r = map(join, x, x, bias);
#else
  RESULT r = map(join, x, memory, bias);
#endif
}
