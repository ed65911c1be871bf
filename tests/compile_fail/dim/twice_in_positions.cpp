// MISTAKE: positions that are told name one dimension twice.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*seq
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  extern tensor<int, batch, seq> places;
  RESULT y = rotary<seq, d_k>(q, places);
#else
  extern tensor<int, seq, seq> places;
  RESULT y = rotary<seq, d_k>(q, places);
#endif
}
