// MISTAKE: the diagonal of a matrix that is not square.
// RULE: R3
// EXPECT: ERROR_R3_extents_differ<.*diagonal.*seq, .*extent<5.*src, .*extent<7
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = diagonal<seq, key>(s);
#else
  RESULT r = diagonal<seq, src>(s_src);
#endif
}
