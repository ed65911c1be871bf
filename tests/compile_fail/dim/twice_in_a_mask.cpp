// MISTAKE: a mask of queries and keys names the queries twice.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  extern tensor<bool, seq, key> visible;
  RESULT y = softmax<key>(masked(s, allow(visible)));
#else
  extern tensor<bool, seq, seq> visible;
  RESULT y = softmax<key>(masked(s, allow(visible)));
#endif
}
