// MISTAKE: a function of masked scores and sinks softmaxes over features; attention adds no error.
// RULE: R1
// LINES(clang): 19
// EXPECT: ERROR_R1_dimension_is_not_in_the_operand<.*softmax.*d_k
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"

extern const tensor<float, heads> sinks;

#ifdef FIXED
RESULT y =
    nn::attention_with_sinks<d_k, key>(q, k, v, sinks, [](const auto& s) { return s * 2.0F; }, causal<seq, key>{});
#else
RESULT y = nn::attention_with_sinks<d_k, key>(q, k, v, sinks, [](const auto& s) { return softmax<d_k>(s); },
                                              causal<seq, key>{});
#endif
