// MISTAKE: a bias names one dimension twice.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*key
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  extern tensor<float, seq, key> bias;
  RESULT y = softmax<key>(biased(s, bias));
#else
  extern tensor<float, key, key> bias;
  RESULT y = softmax<key>(biased(s, bias));
#endif
}
