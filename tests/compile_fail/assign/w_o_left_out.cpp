// MISTAKE: merged heads are stored as the model dimension, which is as large: W_O is left out.
// RULE: R4
// EXPECT: ERROR_R4_composite_is_not_the_declared_dimension<.*assign.*d_model.*merged<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  tensor<float, batch, seq, d_model> y = contract<heads, d_v>(z, w_o);
#else
  tensor<float, batch, seq, d_model> y = merge<heads, d_k>(q);
#endif
}
