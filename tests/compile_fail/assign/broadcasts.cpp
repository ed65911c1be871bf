// MISTAKE: a bias is stored as a whole state.
// RULE: R8
// EXPECT: ERROR_R8_assignment_never_broadcasts<.*assign.*batch.*seq.*d_model
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(const tensor<float, d_model>& bias) {
#ifdef FIXED
  tensor<float, batch, seq, d_model> y = x + bias;
#else
  tensor<float, batch, seq, d_model> y = bias;
#endif
}
