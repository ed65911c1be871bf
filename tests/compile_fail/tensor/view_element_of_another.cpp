// MISTAKE: an element of a view is taken by the id of another dimension.
// RULE: R18
// EXPECT: ERROR_R18_element_is_taken_by_one_id_of_each_dimension<.*key
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  extern tensor_view<const float, seq> v;
  (void)v(id<seq>{0});
#else
  extern tensor_view<const float, seq> v;
  (void)v(id<key>{0});
#endif
}
