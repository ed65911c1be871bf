// MISTAKE: keys that are not rotated are appended to rotated ones.
// RULE: R10
// EXPECT: ERROR_R10_operands_differ_in_another_dimension<.*concat.*past.*rotated<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct past : position_dim<> {};

void layer(const tensor<float, batch, past, d_k, rotated<d_k, seq>>& cache,
           const tensor<float, batch, past, d_k>& fresh) {
#ifdef FIXED
  RESULT r = concat<past>(cache, cache);
#else
  RESULT r = concat<past>(cache, fresh);
#endif
}
