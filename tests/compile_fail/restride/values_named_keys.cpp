// MISTAKE: features of the values are renamed to those of the keys.
// RULE: R3
// EXPECT: ERROR_R3_rename_goes_between_a_dimension_and_its_prime_or_out<.*d_v.*d_k
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = scores<d_k>(q, k);
#else
  RESULT r = scores<d_k>(q, rename<d_v, d_k>(v));
#endif
}
