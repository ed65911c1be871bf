// MISTAKE: the third operand has other features than the first two; the error names it and not the second.
// RULE: R10
// EXPECT: ERROR_R10_operands_differ_in_another_dimension<.*concat.*past.*operand_shape<.*batch, .*past, .*d_v>, .*operand_shape<.*batch, .*past, .*d_k> ?>
// VARIANTS: equal unused
#include "../prelude.hpp"

struct past : position_dim<> {};
extern tensor<float, batch, past, d_v> first, second;
#ifdef FIXED
extern tensor<float, batch, past, d_v> third;
#else
extern tensor<float, batch, past, d_k> third;
#endif

void layer() { RESULT y = concat<past>(first, second, third); }
