// MISTAKE: a slice takes the name of a dimension that is present.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*slice.*key.*few
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct few : position_dim<2> {};
struct other : position_dim<2> {};

void layer(const tensor<float, few, key>& t) {
#ifdef FIXED
  RESULT r = slice<key, other>(t, 0);
#else
  RESULT r = slice<key, few>(t, 0);
#endif
}
