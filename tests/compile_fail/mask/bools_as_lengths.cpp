// MISTAKE: a mask of bool is taken for lengths.
// RULE: R7
// EXPECT: ERROR_R7_lengths_are_no_whole_numbers_over_parallel_dimensions<.*padding.*key
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<bool, batch, key>& bits) {
#ifdef FIXED
  RESULT r = masked(s, allow(bits));
#else
  RESULT r = masked(s, padding<key>(bits));
#endif
}
