// MISTAKE: slice from a real number on.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*slice.*place
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct place : position_dim<> {};
extern tensor<float, place> steps;

void layer() {
#ifdef FIXED
  RESULT y = slice<place>(steps, 1);
#else
  RESULT y = slice<place>(steps, 1.5);
#endif
}
