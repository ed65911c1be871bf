// MISTAKE: softmax goes over the queries, the weights are summed over the keys.
// RULE: R5
// EXPECT: ERROR_R5_weights_are_contracted_over_their_own_dimension<.*key.*normalised<.*seq
// FROM: softmax over queries
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = contract<key>(softmax<key>(s), v);
#else
  RESULT r = contract<key>(softmax<seq>(s), v);
#endif
}
