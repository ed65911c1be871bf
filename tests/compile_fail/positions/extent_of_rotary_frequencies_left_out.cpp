// MISTAKE: the frequencies of as many pairs as only the program knows, without saying it.
// RULE: R15
// EXPECT: ERROR_R15_run_time_extents_are_given_once<.*rotary_frequencies.*some_pairs
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct some_pairs : feature_dim<> {};

void layer() {
#ifdef FIXED
  RESULT y = rotary_frequencies<half<d_model>>();
#else
  RESULT y = rotary_frequencies<some_pairs>();
#endif
}
