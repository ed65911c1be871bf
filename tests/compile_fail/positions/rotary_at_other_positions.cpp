// MISTAKE: the queries are turned at positions that are told for the keys.
// RULE: R9
// EXPECT: ERROR_R9_angles_do_not_belong_to_the_rotated_positions<.*rotary.*seq.*d_k
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<int, batch, seq> of_queries;
extern tensor<int, batch, key> of_keys;

void layer() {
#ifdef FIXED
  RESULT r = rotary<seq, d_k>(q, of_queries);
#else
  RESULT r = rotary<seq, d_k>(q, of_keys);
#endif
}
