// MISTAKE: a loop over the elements of a tensor that is gone when the loop begins.
// RULE: R3
// EXPECT: ERROR_R3_elements_of_a_temporary_are_gone<.*seq
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

float layer() {
  extern tensor<float, seq> t;
  float sum = 0;
#ifdef FIXED
  const tensor twice = t * 2;
  for (const float v : twice.values()) { sum += v; }
#else
  for (const float v : evaluate(t * 2).values()) { sum += v; }
#endif
  return sum;
}
