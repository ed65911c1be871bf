// MISTAKE: two sequences at the same positions are compared without renaming one.
// RULE: R2
// EXPECT: ERROR_R2_shared_dimension_is_not_parallel<.*seq
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = contract<d_model>(x, rename<seq, key>(x));
#else
  RESULT r = contract<d_model>(x, x);
#endif
}
