// MISTAKE: all examples are turned by the positions of the first.
// RULE: R18
// EXPECT: ERROR_R18_single_element_meets_its_whole_dimension<.*rotary.*batch.*indexed<.*batch
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<int, batch, seq> places;

void layer() {
#ifdef FIXED
  RESULT r = rotary<seq, d_k>(q, places);
#else
  RESULT r = rotary<seq, d_k>(q, at<batch>(places, 0));
#endif
}
