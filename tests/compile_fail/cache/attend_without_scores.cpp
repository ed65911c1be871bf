// MISTAKE: the function that gives the scores of the keys forgets its `return`.
// RULE: R1
// LINES(gcc): 11
// EXPECT: R1: the function that attend takes returns scores
// EXPECT: ERROR_R1_operation_takes_other_arguments<.*attend
// VARIANTS: unused
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

void step() {
#ifdef FIXED
  RESULT y = nn::attend(cache, [](const auto& k) { return scores<d_k>(k_now, k); });
#else
  RESULT y = nn::attend(cache, [](const auto& k) { (void)scores<d_k>(k_now, k); });
#endif
}
