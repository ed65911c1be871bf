// MISTAKE: an element is taken by numbers whose order is not checked.
// RULE: R18
// EXPECT: ERROR_R18_element_is_taken_by_one_id_of_each_dimension<.*int
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  (void)x(id<batch>{0}, id<seq>{1}, id<d_model>{2});
#else
  (void)x(0, 1, 2);
#endif
}
