// MISTAKE: products of queries and keys are multiplied with the values at once, without saying that this is linear attention.
// RULE: R6
// EXPECT: ERROR_R6_scores_are_contracted_only_after_softmax<.*raw<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = contract<key>(plain(contract<d_k>(q, k)), v);
#else
  RESULT r = contract<key>(contract<d_k>(q, k), v);
#endif
}
