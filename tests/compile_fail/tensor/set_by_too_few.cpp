// MISTAKE: an element is set by one id of three.
// RULE: R18
// EXPECT: ERROR_R18_element_is_taken_by_one_id_of_each_dimension<
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  x.set(1.0F, id<batch>{0}, id<seq>{0}, id<d_model>{0});
#else
  x.set(1.0F, id<batch>{0});
#endif
}
