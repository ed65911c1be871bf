// MISTAKE: a learned prefix stands before the keys and not before the values.
// RULE: R10
// EXPECT: ERROR_R10_keys_and_values_grow_together<.*contract.*summed<.*learned
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct learned : position_dim<EXTENT(3)> {};
using all = summed<learned, key>;
extern tensor<float, batch, learned, heads, d_k> prefix_k;
extern tensor<float, batch, learned, heads, d_v> prefix_v;

void layer() {
#ifdef FIXED
  RESULT y = contract<all>(softmax<all>(scores<d_k>(q, concat<all>(prefix_k, k))), concat<all>(prefix_v, v));
#else
  RESULT y = contract<all>(softmax<all>(scores<d_k>(q, concat<all>(prefix_k, k))), v);
#endif
}
