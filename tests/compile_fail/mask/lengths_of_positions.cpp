// MISTAKE: lengths are given for each position.
// RULE: R7
// EXPECT: ERROR_R7_lengths_are_no_whole_numbers_over_parallel_dimensions<.*padding.*seq
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<int, batch, seq>& counts) {
#ifdef FIXED
  RESULT r = masked(s, padding<key>(lengths));
#else
  RESULT r = masked(s, padding<key>(counts));
#endif
}
