// MISTAKE: a padding of queries, of which one is taken, serves the softmax over its keys.
// RULE: R7
// EXPECT: ERROR_R7_mask_does_not_serve_this_dimension<.*softmax.*key
// VARIANTS: unused
#include "../prelude.hpp"

void layer(const tensor<int, batch>& sizes) {
#ifdef FIXED
  RESULT y = softmax<key>(at<seq>(masked(s, padding<key>(sizes)), 2));
#else
  RESULT y = softmax<key>(at<seq>(masked(s, padding<seq>(sizes)), 2));
#endif
}
