// MISTAKE: scores are multiplied with the values without softmax.
// RULE: R6
// EXPECT: ERROR_R6_scores_are_contracted_only_after_softmax<.*score<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = contract<key>(softmax<key>(scores<d_k>(q, k)), v);
#else
  RESULT r = contract<key>(scores<d_k>(q, k), v);
#endif
}
