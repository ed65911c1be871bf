// MISTAKE: how many of the best, as a number instead of a dimension.
// RULE: R1
// EXPECT: ERROR_R1_operation_names_its_dimension<.*top_k.*int
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct best : choice_dim<2> {};

void layer() {
#ifdef FIXED
  auto r = top_k<vocab, best>(logits);
#else
  auto r = top_k<vocab>(logits, 2);
#endif
}
