// MISTAKE: the number of words of a sum by ids is given without its dimension.
// RULE: R15
// EXPECT: ERROR_R15_run_time_extents_are_given_once<.*scatter_add.*words.*int
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct words : choice_dim<> {};
extern tensor<id<words>, batch, seq> text;

void layer() {
#ifdef FIXED
  RESULT y = scatter_add<words, batch, seq>(x, text, words{50});
#else
  RESULT y = scatter_add<words, batch, seq>(x, text, 50);
#endif
}
