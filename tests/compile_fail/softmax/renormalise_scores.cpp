// MISTAKE: scores are divided by their sum instead of softmax.
// RULE: R6
// EXPECT: ERROR_R6_scores_go_to_softmax<.*renormalise.*score<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = softmax<key>(s);
#else
  RESULT r = renormalise<key>(s);
#endif
}
