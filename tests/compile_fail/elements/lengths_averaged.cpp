// MISTAKE: the mean of whole numbers, which would lose its fraction.
// RULE: R13
// EXPECT: ERROR_R13_needs_real_numbers<.*mean.*batch
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void mean_length() {
#ifdef FIXED
  RESULT y = mean<batch>(map([](int n) { return static_cast<float>(n); }, lengths));
#else
  RESULT y = mean<batch>(lengths);
#endif
}
