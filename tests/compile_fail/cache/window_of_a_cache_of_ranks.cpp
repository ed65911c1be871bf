// MISTAKE: a window is set at run time on a cache on several ranks, which keeps all positions: its window is a mask.
// RULE: R10
// EXPECT: ERROR_R10_cache_of_another_kind_has_this_member<.*keep_window.*written
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/nn.hpp>
#include <dimwise/ranks/kv_cache.hpp>

struct sp : mesh_axis<2> {};
struct written : position_dim<> {};  // a cache grows along it
using key_here = shard<written, sp, striped>;
using cache_of_ranks = ranks::kv_cache<key_here, nn::capacity<64>, nn::keys<float, heads, key_here, d_k>,
                                       nn::values<float, heads, key_here, d_v>>;

void step(cache_of_ranks& cache) {
#ifdef FIXED
  cache.forget(0);
#else
  cache.keep_window(8);
#endif
}
