// MISTAKE: the vector of the first word is added at every position.
// RULE: R18
// EXPECT: ERROR_R18_single_element_meets_its_whole_dimension<.*indexed<.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = x + gather<vocab>(embedding, tokens);
#else
  RESULT r = x + gather<vocab>(embedding, at<seq>(tokens, 0));
#endif
}
