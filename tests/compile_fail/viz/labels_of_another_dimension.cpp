// MISTAKE: the columns of a table are labelled by a dimension that the tensor does not have.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*labels.*vocab
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  const auto r = labelled(x, labels<seq>({"a", "b"}));
#else
  const auto r = labelled(x, labels<vocab>({"a", "b"}));
#endif
}
