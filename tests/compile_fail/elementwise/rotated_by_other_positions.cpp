// MISTAKE: queries that were rotated by the positions of the memory are added to those rotated by their own.
// RULE: R9
// EXPECT: ERROR_R9_operands_are_rotated_by_other_positions<.*elementwise.*rotated<.*seq>.*rotated<.*src>
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<float, batch, seq, heads, d_k, rotated<d_k, seq>> turned;
#ifdef FIXED
extern tensor<float, batch, seq, heads, d_k, rotated<d_k, seq>> others;
#else
extern tensor<float, batch, seq, heads, d_k, rotated<d_k, src>> others;
#endif

void layer() { RESULT r = turned + others; }
