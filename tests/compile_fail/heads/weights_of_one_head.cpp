// MISTAKE: the attention weights of the first head are used for the values of all heads.
// RULE: R18
// EXPECT: ERROR_R18_single_element_meets_its_whole_dimension<.*contract.*heads
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT attended = contract<key>(a, v);
#else
  RESULT attended = contract<key>(at<heads>(a, 0), v);
#endif
}
