// MISTAKE: keys of which only the program knows how many there are, without saying it.
// RULE: R15
// EXPECT: ERROR_R15_run_time_extents_are_given_once<.*skew.*past
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct now : position_dim<> {};
struct past : prime<now> {};
struct distance : position_dim<> {};

extern tensor<float, now, distance> relative;

void layer() {
#ifdef FIXED
  RESULT y = skew<now, distance, past>(relative, past{3});
#else
  RESULT y = skew<now, distance, past>(relative);
#endif
}
