// MISTAKE: the last token takes the place of all.
// RULE: R18
// EXPECT: ERROR_R18_single_element_meets_its_whole_dimension<.*where.*seq.*indexed<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void choose() {
#ifdef FIXED
  RESULT y = where(x > 0.0F, x, broadcast<seq>(at<seq>(x, 0), seq{}));
#else
  RESULT y = where(x > 0.0F, x, at<seq>(x, 0));
#endif
}
