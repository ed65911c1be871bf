// MISTAKE: two dimensions of different extents are said to be the same.
// RULE: R3
// EXPECT: ERROR_R3_extents_differ<.*relabel.*seq, .*extent<5.*src, .*extent<7
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct place : position_dim<5> {};

void layer() {
#ifdef FIXED
  RESULT r = relabel<seq, place>(x);
#else
  RESULT r = relabel<seq, src>(x);
#endif
}
