// MISTAKE: a bias declared elsewhere names one dimension twice.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*seq
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  extern tensor<float, seq> bias;
  RESULT y = x + map([](float v) { return v; }, bias);
#else
  extern tensor<float, seq, seq> bias;
  RESULT y = s + bias;
#endif
}
