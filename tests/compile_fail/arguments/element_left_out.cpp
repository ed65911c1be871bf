// MISTAKE: at without the element.
// RULE: R1
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*at.*seq
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = at<seq>(x, 1);
#else
  RESULT y = at<seq>(x);
#endif
}
