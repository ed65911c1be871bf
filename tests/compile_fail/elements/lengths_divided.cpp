// MISTAKE: whole numbers divided by whole numbers, which would lose the fraction, and have no quotient by 0.
// RULE: R13
// EXPECT: ERROR_R13_needs_real_numbers<.*divide.*batch
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void share_of_the_longest() {
#ifdef FIXED
  RESULT y = lengths / 7.0F;
#else
  RESULT y = lengths / 7;
#endif
}
