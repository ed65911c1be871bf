// MISTAKE: positions are renamed to more keys than there are positions.
// RULE: R3
// EXPECT: ERROR_R3_extents_differ<.*rename.*seq, .*extent<5.*cached, .*extent<9
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct cached : prime<seq, 9> {};

void layer() {
#ifdef FIXED
  RESULT r = rename<seq, key>(x);
#else
  RESULT r = rename<seq, cached>(x);
#endif
}
