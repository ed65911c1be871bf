// MISTAKE: scores declared elsewhere name one dimension for queries and keys.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  extern tensor<float, seq, key> declared;
  RESULT y = sum<seq>(declared);
#else
  extern tensor<float, seq, seq> declared;
  RESULT y = sum<seq>(declared);
#endif
}
