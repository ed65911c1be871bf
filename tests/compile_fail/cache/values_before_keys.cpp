// MISTAKE: the type of a cache names the values before the keys.
// RULE: R13
// EXPECT: ERROR_R13_module_takes_arguments_of_other_kinds<.*kv_cache.*over<.*values<float.*keys<float.*declared<.*keys.*values
#include "cache_prelude.hpp"

void decode() {
#ifdef FIXED
  nn::kv_cache<past, nn::capacity<64>, key_cache, value_cache> one;
#else
  nn::kv_cache<past, nn::capacity<64>, value_cache, key_cache> one;
#endif
  one.append(k_new, v_new);
  RESULT y = scores<d_k>(k_now, one.keys());
}
