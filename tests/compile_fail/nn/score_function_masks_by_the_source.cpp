// MISTAKE: a function of scores masks them by positions of the source; attention adds no error.
// RULE: R7
// LINES(clang): 19
// EXPECT: ERROR_R7_mask_has_dimensions_that_the_scores_lack<.*src.*there
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"

#ifdef FIXED
RESULT y = nn::attention_weights<d_k, key>(q, k, [](const auto& s) { return masked(s, causal<seq, key>{}); });
#else
RESULT y = nn::attention_weights<d_k, key>(q, k, [](const auto& s) { return masked(s, causal<src, there>{}); });
#endif
