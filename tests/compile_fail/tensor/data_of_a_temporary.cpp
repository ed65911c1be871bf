// MISTAKE: a pointer to the elements of a tensor that is gone at the end of the line.
// RULE: R3
// EXPECT: ERROR_R3_elements_of_a_temporary_are_gone<.*seq
// VARIANTS: dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
  extern tensor<float, seq> t;
#ifdef FIXED
  const tensor twice = t * 2;
  const float* const elements = twice.data();
  const float first = evaluate(t * 2)(id<seq>{0});  // an element of a temporary is a value
#else
  const auto elements = evaluate(t * 2).data();
#endif
}
