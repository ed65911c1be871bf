// MISTAKE: a number is assigned to a whole tensor.
// RULE: R8
// EXPECT: ERROR_R8_assignment_never_broadcasts<.*seq
#include <dimwise/dimwise.hpp>

#include "../prelude.hpp"

void layer() {
#ifdef FIXED
  extern tensor<float, seq> y;
  y.fill(3);
#else
  extern tensor<float, seq> y;
  y = 3;
#endif
}
