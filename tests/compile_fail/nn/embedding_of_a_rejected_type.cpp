// MISTAKE: the words have a type that names a dimension twice; the module adds no second error.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*seq
// VARIANTS: unused
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  const tensor<id<vocab>, batch, seq> given = tokens;
  RESULT y = words(given);
#else
  const tensor<id<vocab>, seq, seq> given;
  RESULT y = words(given);
#endif
}
