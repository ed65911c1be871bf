// MISTAKE: the mask of the first query is combined with the one of all queries.
// RULE: R18
// EXPECT: ERROR_R18_single_element_meets_its_whole_dimension<.*mask_and.*indexed<.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<bool, seq, key> visible;

void layer() {
#ifdef FIXED
  RESULT r = softmax<key>(masked(s, allow(visible) & causal<seq, key>{}));
#else
  RESULT r = softmax<key>(masked(s, allow(at<seq>(visible, 0)) & causal<seq, key>{}));
#endif
}
