// MISTAKE: a slice of features is called positions.
// RULE: R18
// EXPECT: ERROR_R18_slice_has_another_kind<.*slice.*d_model.*place
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct place : position_dim<2> {};
struct rot : feature_dim<2> {};

void layer() {
#ifdef FIXED
  RESULT r = slice<d_model, rot>(x, 0);
#else
  RESULT r = slice<d_model, place>(x, 0);
#endif
}
