// MISTAKE: one position's encoding is added to every position.
// RULE: R18
// EXPECT: ERROR_R18_single_element_meets_its_whole_dimension<.*seq.*indexed<
// FROM: one position indexed instead of a slice
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(const tensor<float, seq, d_model>& encoding) {
#ifdef FIXED
  RESULT r = x + encoding;
#else
  RESULT r = x + at<seq>(encoding, 3);
#endif
}
