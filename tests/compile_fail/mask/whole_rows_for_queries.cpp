// MISTAKE: a mask of queries, of whole rows, before a softmax over these queries.
// RULE: R7
// EXPECT: ERROR_R7_mask_does_not_serve_this_dimension<.*softmax.*seq
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<bool, seq>& some) {
#ifdef FIXED
  RESULT r = softmax<key>(masked(s, whole_rows(allow(some))));
#else
  RESULT r = softmax<seq>(masked(s, whole_rows(allow(some))));
#endif
}
