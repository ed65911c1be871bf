// MISTAKE: the relative biases of the first head are those of all heads.
// RULE: R18
// EXPECT: ERROR_R18_single_element_meets_its_whole_dimension<.*biased.*heads.*indexed<.*heads
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct buckets : position_dim<32> {};
extern tensor<float, heads, buckets> table;

void layer() {
#ifdef FIXED
  RESULT r = softmax<key>(biased(s, relative_bias<seq, key, buckets>(table)));
#else
  RESULT r = softmax<key>(biased(s, relative_bias<seq, key, buckets>(at<heads>(table, 0))));
#endif
}
