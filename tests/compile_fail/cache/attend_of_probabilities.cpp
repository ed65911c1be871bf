// MISTAKE: the function that attend takes applies the softmax, which attend applies to the scores of each page.
// RULE: R5
// LINES(gcc): 11
// EXPECT: R5, R6, R7: attend softmaxes what its function returns
// EXPECT: ERROR_R5_already_normalised<.*past
// VARIANTS: unused
#include "cache_prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/nn/paged_cache.hpp>

extern nn::kv_cache<past, nn::paged<8>, key_cache, value_cache> pages;

void step() {
#ifdef FIXED
  RESULT y = nn::attend(pages, [](const auto& k) { return scores<d_k>(k_now, k); });
#else
  RESULT y = nn::attend(pages, [](const auto& k) { return softmax<past>(scores<d_k>(k_now, k)); });
#endif
}
