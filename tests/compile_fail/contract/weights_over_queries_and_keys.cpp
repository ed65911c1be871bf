// MISTAKE: softmax over queries and keys at once; the values are summed over the keys alone.
// RULE: R5
// EXPECT: ERROR_R5_weights_are_contracted_over_their_own_dimension<.*contract.*key.*normalised<.*seq, ?.*key
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT y = contract<key>(softmax<key>(s), v);
#else
  RESULT y = contract<key>(softmax<seq, key>(s), v);
#endif
}
