// MISTAKE: positions and heads are swapped by giving them each other's names.
// RULE: R3
// EXPECT: ERROR_R3_rename_goes_between_a_dimension_and_its_prime_or_out<.*rename.*seq.*heads
// FROM: (B,S,H,D) passed to an API that wants (B,H,S,D)
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = permute<batch, heads, seq, d_k>(q);
#else
  RESULT r = rename<seq, heads>(q);
#endif
}
