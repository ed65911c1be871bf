// MISTAKE: a view of the same dimensions in another order.
// RULE: R3
// EXPECT: ERROR_R3_view_shows_a_tensor_of_its_own_type<.*seq.*batch
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  tensor_view<const float, batch, seq, d_model> y = x;
#else
  tensor_view<const float, seq, batch, d_model> y = x;
#endif
}
