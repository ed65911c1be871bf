// MISTAKE: a convolution has one window too many.
// RULE: R13
// EXPECT: ERROR_R13_window_does_not_fit<.*unroll.*steps, .*extent<8.*kernel, .*extent<3.*windows, .*extent<7
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct steps : position_dim<8> {};
struct kernel : position_dim<3> {};
struct windows : position_dim<7> {};
struct fitting : position_dim<6> {};

void layer(const tensor<float, batch, steps, d_model>& t) {
#ifdef FIXED
  RESULT r = unroll<steps, kernel, fitting>(t);
#else
  RESULT r = unroll<steps, kernel, windows>(t);
#endif
}
