// MISTAKE: attention weights are scaled.
// RULE: R5
// EXPECT: ERROR_R5_already_normalised<.*scaled.*normalised<
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void attention() {
#ifdef FIXED
  RESULT r = scaled<d_k>(contract<d_k>(q, k));
#else
  RESULT r = scaled<d_k>(a);
#endif
}
