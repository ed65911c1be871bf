// MISTAKE: the residual is added before W_O.
// RULE: R8
// EXPECT: ERROR_R8_neither_has_all_dimensions_of_the_other<.*d_model.*heads.*d_v
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = x + contract<heads, d_v>(z, w_o);
#else
  RESULT r = x + z;
#endif
}
