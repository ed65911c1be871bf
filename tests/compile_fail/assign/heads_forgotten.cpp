// MISTAKE: heads are forgotten in the declared type.
// RULE: R3
// EXPECT: ERROR_R3_assigned_dimensions_differ<.*assign.*heads
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  tensor<float, batch, seq, heads, d_k> y = contract<d_model>(x, w_q);
#else
  tensor<float, batch, seq, d_k> y = contract<d_model>(x, w_q);
#endif
}
