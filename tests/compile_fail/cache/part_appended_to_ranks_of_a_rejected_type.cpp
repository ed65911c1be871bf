// MISTAKE: the keys that a cache on several ranks takes name a dimension twice; `append_part` adds no second error.
// RULE: R17
// EXPECT: ERROR_R17_dimension_occurs_twice<.*written
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/nn.hpp>
#include <dimwise/ranks/kv_cache.hpp>

struct sp : mesh_axis<2> {};
struct written : position_dim<> {};  // a cache grows along it
using key_here = shard<written, sp, striped>;
using cache_of_ranks = ranks::kv_cache<key_here, nn::capacity<64>, nn::keys<float, heads, key_here, d_k>,
                                       nn::values<float, heads, key_here, d_v>>;
#ifdef FIXED
extern const tensor<float, key_here, heads, d_k> k_written;
#else
extern const tensor<float, written, written, d_k> k_written;
#endif

void step(cache_of_ranks& cache, const tensor<float, key_here, heads, d_v>& v_written) {
  cache.append_part(k_written, v_written);
}
