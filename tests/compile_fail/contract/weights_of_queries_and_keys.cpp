// MISTAKE: weights for each query are summed over the queries, too.
// RULE: R5
// EXPECT: ERROR_R5_weights_are_contracted_over_their_own_dimension<.*seq.*key
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention(const tensor<float, batch, seq, key, d_v>& pairs) {
#ifdef FIXED
  RESULT r = contract<key>(a, pairs, along<seq>{});
#else
  RESULT r = contract<seq, key>(a, pairs);
#endif
}
