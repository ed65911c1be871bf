// MISTAKE: keys are appended to a cache on several ranks without their values.
// RULE: R10
// EXPECT: ERROR_R10_keys_and_values_grow_together<.*append.*written.*d_k
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/nn.hpp>
#include <dimwise/ranks/kv_cache.hpp>

struct sp : mesh_axis<2> {};
struct written : position_dim<> {};  // a cache grows along it
using key_here = shard<written, sp, striped>;
using cache_of_ranks = ranks::kv_cache<key_here, nn::capacity<64>, nn::keys<float, heads, key_here, d_k>,
                                       nn::values<float, heads, key_here, d_v>>;

void step(cache_of_ranks& cache, const tensor<float, written, heads, d_k>& k_written,
          [[maybe_unused]] const tensor<float, written, heads, d_v>& v_written) {
#ifdef FIXED
  cache.append(k_written, v_written);
#else
  cache.append(k_written);
#endif
}
