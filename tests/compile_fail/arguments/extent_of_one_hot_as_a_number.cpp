// MISTAKE: the number of words of a one-hot tensor is given without its dimension.
// RULE: R15
// EXPECT: ERROR_R15_run_time_extents_are_given_once<.*one_hot.*words.*int
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct words : choice_dim<> {};
extern tensor<id<words>, batch, seq> text;

void layer() {
#ifdef FIXED
  RESULT y = one_hot<words>(text, words{50});
#else
  RESULT y = one_hot<words>(text, 50);
#endif
}
