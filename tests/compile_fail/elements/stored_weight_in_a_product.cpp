// MISTAKE: weights of bfloat16 are multiplied with floats, and nothing says that they are widened.
// RULE: R13
// EXPECT: ERROR_R13_stored_numbers_are_widened_first<.*contract
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<bfloat16, d_v, d_model> weight;

void layer() {
#ifdef FIXED
  RESULT r = contract<d_model>(rounded<bfloat16>(x), widened(weight));
#else
  RESULT r = contract<d_model>(x, weight);
#endif
}
