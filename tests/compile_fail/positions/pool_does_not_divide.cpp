// MISTAKE: pooling windows do not divide the sequence.
// RULE: R13
// EXPECT: ERROR_R13_window_does_not_fit<.*pool.*steps, .*extent<8.*kernel, .*extent<3
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct steps : position_dim<8> {};
struct kernel : position_dim<3> {};
struct windows : position_dim<2> {};
struct pair : position_dim<2> {};
struct fitting : position_dim<4> {};

void layer(const tensor<float, batch, steps, d_model>& t) {
#ifdef FIXED
  RESULT r = pool<steps, pair, fitting>(t);
#else
  RESULT r = pool<steps, kernel, windows>(t);
#endif
}
