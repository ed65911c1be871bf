// MISTAKE: the keys of softmax are named twice.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*softmax.*key.*key
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = softmax<key>(s);
#else
  RESULT r = softmax<key, key>(s);
#endif
}
