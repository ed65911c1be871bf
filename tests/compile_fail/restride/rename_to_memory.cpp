// MISTAKE: decoder positions are renamed to the encoder's.
// RULE: R3
// EXPECT: ERROR_R3_rename_goes_between_a_dimension_and_its_prime_or_out<.*rename.*seq.*src
// VARIANTS: equal dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = scores<d_k>(q, contract<d_model>(memory, w_k));
#else
  RESULT r = scores<d_k>(q, rename<seq, src>(contract<d_model>(x, w_k)));
#endif
}
