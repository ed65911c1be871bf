// MISTAKE: keys are renamed to queries where queries are present.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*rename.*key.*seq
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = diagonal<seq, key>(s);
#else
  RESULT r = rename<key, seq>(s);
#endif
}
