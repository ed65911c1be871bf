// MISTAKE: sinusoids of as many features as only the program knows, without saying it.
// RULE: R15
// EXPECT: ERROR_R15_run_time_extents_are_given_once<.*sinusoid.*wide
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct now : position_dim<> {};
struct wide : feature_dim<> {};

void layer() {
#ifdef FIXED
  RESULT y = sinusoid<now, wide>(now{3}, wide{8});
#else
  RESULT y = sinusoid<now, wide>(now{3});
#endif
}
