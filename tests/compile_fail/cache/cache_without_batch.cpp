// MISTAKE: a run-time extent of the cache is not given.
// RULE: R15
// EXPECT: ERROR_R15_run_time_extents_are_given_once<.*examples
#include "cache_prelude.hpp"
#include <dimwise/nn/cache.hpp>

struct examples : batch_dim<> {};
struct width : feature_dim<8> {};
using example_cache = nn::kv_cache<past, nn::capacity<64>, nn::keys<float, examples, past, width>,
                                   nn::values<float, examples, past, width>>;

void layer() {
#ifdef FIXED
  example_cache mine(examples{2});
#else
  example_cache mine;
#endif
}
