// MISTAKE: the mask of the first query hides keys from all of them.
// RULE: R18
// EXPECT: ERROR_R18_single_element_meets_its_whole_dimension<.*masked.*seq.*indexed<.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<bool, seq, key> visible;

void layer() {
#ifdef FIXED
  RESULT r = softmax<key>(masked(s, allow(visible)));
#else
  RESULT r = softmax<key>(masked(s, allow(at<seq>(visible, 0))));
#endif
}
