// MISTAKE: a row is written into a view of a matrix.
// RULE: R8
// EXPECT: ERROR_R8_assignment_never_broadcasts<.*assign.*seq
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(tensor_view<float, seq, d_model> view, const tensor<float, d_model>& row) {
#ifdef FIXED
  view = row + view;
#else
  view = row;
#endif
}
