// MISTAKE: lengths name the batch twice.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*batch
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  extern tensor<int, batch> counts;
  RESULT y = softmax<key>(masked(s, padding<key>(counts)));
#else
  extern tensor<int, batch, batch> counts;
  RESULT y = softmax<key>(masked(s, padding<key>(counts)));
#endif
}
