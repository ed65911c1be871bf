// MISTAKE: a power of whole numbers alone.
// RULE: R13
// EXPECT: ERROR_R13_needs_real_numbers<.*pow.*batch
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void choose() {
#ifdef FIXED
  RESULT y = pow(lengths, 0.5F);
#else
  RESULT y = pow(lengths, 2);
#endif
}
