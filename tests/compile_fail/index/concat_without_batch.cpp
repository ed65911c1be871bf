// MISTAKE: one example is appended to a batch of them.
// RULE: R10
// EXPECT: ERROR_R10_operands_differ_in_another_dimension<.*concat.*past
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct past : position_dim<> {};

void layer(const tensor<float, batch, past, d_k>& cache, const tensor<float, past, d_k>& fresh) {
#ifdef FIXED
  RESULT r = concat<past>(cache, broadcast<batch>(fresh, batch{}));
#else
  RESULT r = concat<past>(cache, fresh);
#endif
}
