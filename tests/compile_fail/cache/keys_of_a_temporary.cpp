// MISTAKE: keys are read from a cache that is gone at the end of the line.
// RULE: R3
// EXPECT: ERROR_R3_elements_of_a_temporary_are_gone<.*past.*d_k
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

using kept_cache = nn::kv_cache<past, nn::capacity<64>, key_cache, value_cache>;
kept_cache restored();
void layer() {
#ifdef FIXED
  const kept_cache all = restored();
  const auto keys = all.keys();
#else
  const auto keys = restored().keys();
#endif
}
