// MISTAKE: attention without softmax, through a function, without saying so.
// RULE: R6
// EXPECT: ERROR_R6_scores_are_contracted_only_after_softmax<.*raw<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = contract<key>(plain(relu(products)), v);
#else
  RESULT r = contract<key>(relu(products), v);
#endif
}
