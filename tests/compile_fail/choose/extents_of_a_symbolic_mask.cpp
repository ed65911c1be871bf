// MISTAKE: a causal mask chooses between two numbers: the number of positions is unknown.
// RULE: R15
// EXPECT: ERROR_R15_run_time_extents_are_given_once<.*rows.*columns
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct rows : position_dim<> {};
struct columns : prime<rows> {};
extern tensor<float, rows, columns> scores_of;

void choose() {
#ifdef FIXED
  RESULT y = where(causal<rows, columns>{}, scores_of, 0.0F);
#else
  RESULT y = where(causal<rows, columns>{}, 1.0F, 0.0F);
#endif
}
