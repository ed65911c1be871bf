// MISTAKE: the indicator of the first example is multiplied with all of them.
// RULE: R18
// EXPECT: ERROR_R18_single_element_meets_its_whole_dimension<.*batch.*indexed<.*batch
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<bool, batch, seq> real;

void layer() {
#ifdef FIXED
  RESULT r = x * indicator(allow(real));
#else
  RESULT r = x * indicator(allow(at<batch>(real, 0)));
#endif
}
