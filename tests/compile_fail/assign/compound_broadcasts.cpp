// MISTAKE: x += y, where y has a dimension more: assignment never broadcasts x.
// RULE: R3
// EXPECT: ERROR_R3_assigned_dimensions_differ<.*assign.*batch.*seq
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  extern tensor<float, d_model> row;
  x += row;
#else
  extern tensor<float, d_model> row;
  row += x;
#endif
}
