// MISTAKE: the positions of a mask without scores are given without their dimensions.
// RULE: R15
// EXPECT: ERROR_R15_run_time_extents_are_given_once<.*indicator.*now.*past.*int, ?int
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct now : position_dim<> {};
struct past : prime<now> {};

void layer() {
#ifdef FIXED
  RESULT y = indicator(causal<now, past>{}, now{3}, past{3});
#else
  RESULT y = indicator(causal<now, past>{}, 3, 3);
#endif
}
