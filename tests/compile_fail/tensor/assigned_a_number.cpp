// MISTAKE: a number is assigned to a whole tensor.
// RULE: R8
// EXPECT: ERROR_R8_assignment_never_broadcasts<.*seq
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  extern tensor<float, seq> y;
  y.fill(3);
#else
  extern tensor<float, seq> y;
  y = 3;
#endif
}
