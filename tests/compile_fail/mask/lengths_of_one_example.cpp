// MISTAKE: the length of the first example pads all of them.
// RULE: R18
// EXPECT: ERROR_R18_single_element_meets_its_whole_dimension<.*masked.*batch.*indexed<.*batch
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = softmax<key>(masked(s, padding<key>(lengths)));
#else
  RESULT r = softmax<key>(masked(s, padding<key>(at<batch>(lengths, 0))));
#endif
}
