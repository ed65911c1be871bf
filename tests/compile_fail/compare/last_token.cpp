// MISTAKE: all tokens are compared with the first one.
// RULE: R18
// EXPECT: ERROR_R18_single_element_meets_its_whole_dimension<.*compare.*seq.*indexed<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void states() {
#ifdef FIXED
  RESULT y = x == broadcast<seq>(at<seq>(x, 0), seq{});
#else
  RESULT y = x == at<seq>(x, 0);
#endif
}
