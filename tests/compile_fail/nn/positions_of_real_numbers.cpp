// MISTAKE: learned positions at positions that are real numbers.
// RULE: R18
// EXPECT: ERROR_R18_ids_index_their_own_dimension_only<.*gather.*seq
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer(const tensor<float, batch, seq>& halves) {
#ifdef FIXED
  RESULT y = places(x, map([](float p) { return static_cast<int>(2 * p); }, halves));
#else
  RESULT y = places(x, halves);
#endif
}
