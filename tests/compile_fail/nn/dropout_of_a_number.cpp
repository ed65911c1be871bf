// MISTAKE: dropout is called with a number of features.
// RULE: R1
// EXPECT: ERROR_R1_module_takes_other_arguments<.*dropout.*int
// VARIANTS: unused
#include "nn_prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT y = nn::dropout{0.5}(x);
#else
  RESULT y = nn::dropout{0.5}(24);
#endif
}
