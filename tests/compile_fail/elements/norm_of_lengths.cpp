// MISTAKE: the Euclidean norm of whole numbers.
// RULE: R13
// EXPECT: ERROR_R13_needs_real_numbers<.*norm
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void lengths(const tensor<int, batch>& whole, const tensor<float, batch>& real) {
#ifdef FIXED
  RESULT r = norm<batch>(real * whole);
#else
  RESULT r = norm<batch>(whole);
#endif
}
