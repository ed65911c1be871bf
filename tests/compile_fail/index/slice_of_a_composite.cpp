// MISTAKE: a slice of a merged dimension keeps its name, although it is not a product any more.
// RULE: R18
// EXPECT: ERROR_R18_slice_of_a_composite_names_a_plain_dimension<.*slice.*merged<
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct some : feature_dim<> {};

void layer() {
#ifdef FIXED
  RESULT r = slice<merged<heads, d_v>, some>(merge<heads, d_v>(z), 1, 2);
#else
  RESULT r = slice<merged<heads, d_v>>(merge<heads, d_v>(z), 1, 2);
#endif
}
