// MISTAKE: concatenated along positions that one operand lacks.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*concat.*past
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct past : position_dim<> {};

void layer(const tensor<float, past, d_k>& cache, const tensor<float, seq, d_k>& fresh) {
#ifdef FIXED
  RESULT r = concat<past>(cache, cache);
#else
  RESULT r = concat<past>(cache, fresh);
#endif
}
