// MISTAKE: the weights of attention with a learned key are stored behind keys whose extent is static.
// RULE: R10
// EXPECT: ERROR_R10_concat_of_a_static_extent_names_its_result<.*src
// VARIANTS: equal unused
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = many_heads.weights(x, memory);
#else
  RESULT y = with_learned_key.weights(x, memory);
#endif
}
