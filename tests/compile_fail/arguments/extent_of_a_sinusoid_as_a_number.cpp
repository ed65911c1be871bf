// MISTAKE: the number of positions is given without its dimension.
// RULE: R15
// EXPECT: ERROR_R15_run_time_extents_are_given_once<.*sinusoid.*now.*of_model.*int
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct now : position_dim<> {};
struct of_model : feature_dim<8> {};

void layer() {
#ifdef FIXED
  RESULT y = sinusoid<now, of_model>(now{5});
#else
  RESULT y = sinusoid<now, of_model>(5);
#endif
}
