// MISTAKE: the number of random values is left out.
// RULE: R15
// EXPECT: ERROR_R15_run_time_extents_are_given_once<.*random_uniform.*now
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct now : position_dim<> {};

void layer() {
#ifdef FIXED
  RESULT y = random_uniform<float, now>(random_seed{1}, now{5});
#else
  RESULT y = random_uniform<float, now>(random_seed{1});
#endif
}
