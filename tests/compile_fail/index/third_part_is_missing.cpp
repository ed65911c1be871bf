// MISTAKE: the third operand has not the part that it takes the place of; the error names both.
// RULE: R1
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*concat.*over<.*about<.*seq,.*operand_shape<.*batch, .*key, .*d_model> ?>
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct cls : position_dim<1> {};
extern tensor<float, batch, cls, d_model> token;
#ifdef FIXED
extern tensor<float, batch, seq, d_model> question;
#else
extern tensor<float, batch, key, d_model> question;
#endif

void layer() { RESULT r = concat<summed<cls, src, seq>>(token, memory, question); }
