// MISTAKE: a function of scores divides them by a number, as their product is, a second time; attention adds no error.
// RULE: R6
// LINES(clang): 19
// EXPECT: ERROR_R6_scores_are_already_scaled<.*scaled
// VARIANTS: equal unused dynamic
#include "nn_prelude.hpp"

#ifdef FIXED
RESULT y = nn::attention<d_k, key>(q, k, v, [](const auto& s) { return s * 0.5F; });
#else
RESULT y = nn::attention<d_k, key>(q, k, v, [](const auto& s) { return scaled(s, 0.5F); });
#endif
