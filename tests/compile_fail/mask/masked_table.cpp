// MISTAKE: the table of a relative bias is masked, and not the scores.
// RULE: R7
// EXPECT: ERROR_R7_bias_is_masked_instead_of_the_scores<.*masked_for<
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct distance_of : position_dim<9> {};
extern tensor<float, heads, distance_of> table;
extern tensor<bool, distance_of> near;

void attention() {
#ifdef FIXED
  RESULT r = softmax<key>(masked(biased(s, relative_bias<seq, key, distance_of>(table)), causal<seq, key>{}));
#else
  RESULT r = softmax<key>(biased(s, relative_bias<seq, key, distance_of>(masked(table, allow(near)))));
#endif
}
