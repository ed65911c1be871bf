// MISTAKE: the positions of a masked mean are named twice.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*mean.*seq.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = mean<seq>(x, padding<seq>(lengths));
#else
  RESULT r = mean<seq, seq>(x, padding<seq>(lengths));
#endif
}
