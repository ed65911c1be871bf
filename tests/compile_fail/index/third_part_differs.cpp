// MISTAKE: the third part of a sum lacks the batch; the error names it and not the second.
// RULE: R10
// EXPECT: ERROR_R10_operands_differ_in_another_dimension<.*concat.*operand_shape<.*batch, .*cls, .*d_model>, .*operand_shape<.*seq, .*d_model> ?>
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>

struct cls : position_dim<1> {};
extern tensor<float, batch, cls, d_model> token;
#ifdef FIXED
extern tensor<float, batch, seq, d_model> question;
#else
extern tensor<float, seq, d_model> question;
#endif

void layer() { RESULT r = concat<summed<cls, src, seq>>(token, memory, question); }
