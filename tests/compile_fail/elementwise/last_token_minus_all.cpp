// MISTAKE: the last token is subtracted from all tokens.
// RULE: R18
// EXPECT: ERROR_R18_single_element_meets_its_whole_dimension<.*seq.*indexed<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = x - broadcast<seq>(at<seq>(x, 0), seq{});
#else
  RESULT r = x - at<seq>(x, 0);
#endif
}
