// MISTAKE: a mean over positions takes the mask of the first example.
// RULE: R18
// EXPECT: ERROR_R18_single_element_meets_its_whole_dimension<.*batch.*indexed<.*batch
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<bool, batch, seq> real;

void layer() {
#ifdef FIXED
  RESULT r = mean<seq>(x, allow(real));
#else
  RESULT r = mean<seq>(x, allow(at<batch>(real, 0)));
#endif
}
