// MISTAKE: queries are turned by the positions of the decoder, keys by those of the encoder: their difference means nothing.
// RULE: R9
// EXPECT: ERROR_R9_operands_are_rotated_by_other_positions<.*scores.*rotated<.*seq.*rotated<.*src
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

void layer() {
#ifdef FIXED
  RESULT r = scores<d_k>(rotary<seq, d_k>(q), rotary<key, d_k>(k));
#else
  RESULT r = scores<d_k>(rotary<seq, d_k>(q), rotary<src, d_k>(k_src));
#endif
}
