// MISTAKE: a dimension is concatenated with itself.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*concat.*summed<
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = concat<summed<src, seq>>(memory, x);
#else
  RESULT r = concat<summed<src, src>>(memory, memory);
#endif
}
