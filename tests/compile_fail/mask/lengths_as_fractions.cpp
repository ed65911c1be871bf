// MISTAKE: lengths are given as floating-point numbers.
// RULE: R7
// EXPECT: ERROR_R7_lengths_are_no_whole_numbers_over_parallel_dimensions<.*padding.*key
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<float, batch>& fractions) {
#ifdef FIXED
  RESULT r = masked(s, padding<key>(lengths));
#else
  RESULT r = masked(s, padding<key>(fractions));
#endif
}
