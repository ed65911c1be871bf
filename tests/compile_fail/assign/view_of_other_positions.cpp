// MISTAKE: encoder positions are written into a view of the decoder's.
// RULE: R3
// EXPECT: ERROR_R3_assigned_dimensions_differ<.*assign.*seq.*src
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(tensor_view<float, batch, seq, d_model> view) {
#ifdef FIXED
  view = x;
#else
  view = memory;
#endif
}
