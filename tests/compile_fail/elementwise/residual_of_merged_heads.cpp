// MISTAKE: the residual is added to merged heads, W_O is left out.
// RULE: R8
// EXPECT: ERROR_R8_neither_has_all_dimensions_of_the_other<.*d_model.*merged<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = x + contract<heads, d_v>(z, w_o);
#else
  RESULT r = x + merge<heads, d_v>(z);
#endif
}
