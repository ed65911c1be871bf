// MISTAKE: what is projected into heads already is projected again.
// RULE: R1
// EXPECT: ERROR_R1_contracted_dimension_is_not_in_both<.*d_model
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = contract<d_model>(x, w_q);
#else
  RESULT r = contract<d_model>(q, w_q);
#endif
}
