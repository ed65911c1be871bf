// MISTAKE: the weights over a prefix and the keys are contracted over the keys alone.
// RULE: R10
// EXPECT: ERROR_R10_keys_and_values_grow_together<.*contract.*key.*summed<.*learned
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
  RESULT y = contract<key>(softmax<all>(scores<d_k>(q, concat<all>(prefix_k, k))), v);
#endif
}
