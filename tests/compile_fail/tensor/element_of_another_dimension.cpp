// MISTAKE: an element is taken by the id of another dimension.
// RULE: R18
// EXPECT: ERROR_R18_element_is_taken_by_one_id_of_each_dimension<.*d_ff
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  (void)x(id<batch>{0}, id<seq>{1}, id<d_model>{0});
#else
  (void)x(id<batch>{0}, id<seq>{1}, id<d_ff>{0});
#endif
}
