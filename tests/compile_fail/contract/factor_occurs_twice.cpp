// MISTAKE: the output heads are a factor of the weight, and the input keeps its own.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*heads
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<float, d_k, merged<heads, d_v>>& w, const tensor<float, heads, d_k, d_v>& split_w) {
#ifdef FIXED
  RESULT r = contract<heads, d_k>(q, split_w);
#else
  RESULT r = contract<d_k>(q, w);
#endif
}
