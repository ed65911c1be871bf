// MISTAKE: a tensor is indexed with a number in brackets.
// RULE: R18
// EXPECT: ERROR_R18_element_is_taken_by_one_id_of_each_dimension<.*int
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  (void)at<batch>(x, 0);
#else
  (void)x[0];
#endif
}
