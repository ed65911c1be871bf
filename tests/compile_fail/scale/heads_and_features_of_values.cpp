// MISTAKE: products over heads and features meet values without softmax.
// RULE: R6
// EXPECT: ERROR_R6_scores_are_contracted_only_after_softmax<.*contract.*key
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = contract<key>(softmax<key>(scaled<heads, d_k>(contract<heads, d_k>(q, k))), v);
#else
  RESULT r = contract<key>(contract<heads, d_k>(q, k), v);
#endif
}
