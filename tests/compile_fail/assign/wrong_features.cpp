// MISTAKE: attended values are declared with the features of the keys.
// RULE: R3
// EXPECT: ERROR_R3_assigned_dimensions_differ<.*assign.*d_k.*d_v
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  tensor<float, batch, seq, heads, d_v> y = contract<key>(a, v);
#else
  tensor<float, batch, seq, heads, d_k> y = contract<key>(a, v);
#endif
}
