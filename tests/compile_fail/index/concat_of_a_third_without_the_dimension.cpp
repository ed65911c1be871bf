// MISTAKE: the third operand lacks the dimension that grows; the error names it and not the first.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*concat.*past.*operand_shape<.*batch, .*d_v> ?>
// VARIANTS: equal unused
#include "../prelude.hpp"

struct past : position_dim<> {};
extern tensor<float, batch, past, d_v> first, second;
#ifdef FIXED
extern tensor<float, batch, past, d_v> third;
#else
extern tensor<float, batch, d_v> third;
#endif

void layer() { RESULT y = concat<past>(first, second, third); }
