// MISTAKE: windows with a stride of 2 are counted as if all were taken.
// RULE: R13
// EXPECT: ERROR_R13_window_does_not_fit<.*unroll.*steps.*kernel.*all_windows
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct steps : position_dim<9> {};
struct kernel : position_dim<3> {};
struct all_windows : position_dim<7> {};
struct every_second : position_dim<4> {};

void layer(const tensor<float, steps, d_model>& t) {
#ifdef FIXED
  RESULT r = unroll<steps, kernel, every_second>(t, stride<2>{});
#else
  RESULT r = unroll<steps, kernel, all_windows>(t, stride<2>{});
#endif
}
