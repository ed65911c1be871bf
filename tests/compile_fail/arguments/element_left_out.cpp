// MISTAKE: at without the element.
// RULE: R1
// EXPECT: ERROR_R1_argument_is_missing<.*at.*seq.*element
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = at<seq>(x, 1);
#else
  RESULT y = at<seq>(x);
#endif
}
