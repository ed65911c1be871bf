// MISTAKE: a view of the same dimensions in another order.
// RULE: R3
// EXPECT: ERROR_R3_view_and_tensor_differ_in_type<.*seq.*batch
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  tensor_view<const float, batch, seq, d_model> y = x;
#else
  tensor_view<const float, seq, batch, d_model> y = x;
#endif
}
