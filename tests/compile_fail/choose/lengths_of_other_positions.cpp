// MISTAKE: the padding of the keys chooses among queries.
// RULE: R8
// EXPECT: ERROR_R8_neither_has_all_dimensions_of_the_other<.*where.*seq.*key
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void choose() {
#ifdef FIXED
  RESULT y = where(padding<seq>(lengths), x, 0.0F);
#else
  RESULT y = where(padding<key>(lengths), x, 0.0F);
#endif
}
