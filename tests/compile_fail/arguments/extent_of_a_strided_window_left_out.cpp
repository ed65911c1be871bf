// MISTAKE: windows with a stride, of a length that only the program knows, without saying it.
// RULE: R15
// EXPECT: ERROR_R15_run_time_extents_are_given_once<.*unroll.*span
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct now : position_dim<> {};
struct span : position_dim<> {};

extern tensor<float, now, d_model> states;

void layer() {
#ifdef FIXED
  RESULT y = unroll<now, span>(states, span{3}, stride<2>{});
#else
  RESULT y = unroll<now, span>(states, stride<2>{});
#endif
}
