// MISTAKE: an element is taken by two ids of three.
// RULE: R18
// EXPECT: ERROR_R18_element_is_taken_by_one_id_of_each_dimension<.*batch.*seq
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  (void)at<seq>(at<batch>(x, 0), 1);
#else
  (void)x(id<batch>{0}, id<seq>{1});
#endif
}
