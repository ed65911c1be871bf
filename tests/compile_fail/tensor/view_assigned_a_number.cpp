// MISTAKE: a number is assigned to all that a view shows.
// RULE: R8
// EXPECT: ERROR_R8_assignment_never_broadcasts<.*seq
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  extern tensor_view<float, seq> y;
  extern tensor<float, seq> t;
  y = t;
#else
  extern tensor_view<float, seq> y;
  y = 3;
#endif
}
