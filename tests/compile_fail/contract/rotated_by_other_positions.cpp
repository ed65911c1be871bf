// MISTAKE: queries and keys are both rotated, the queries by their positions and the keys by those of the memory.
// RULE: R9
// EXPECT: ERROR_R9_operands_are_rotated_by_other_positions<.*scores.*d_k.*rotated<.*seq>.*rotated<.*src>
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

extern tensor<float, batch, seq, heads, d_k, rotated<d_k, seq>> turned;
#ifdef FIXED
extern tensor<float, batch, src, heads, d_k, rotated<d_k, seq>> turned_keys;
#else
extern tensor<float, batch, src, heads, d_k, rotated<d_k, src>> turned_keys;
#endif

void attention() { RESULT r = scores<d_k>(turned, turned_keys); }
