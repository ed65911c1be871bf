// MISTAKE: a cache on several ranks that keeps a window.
// RULE: R10
// EXPECT: pages and sliding windows are caches of one rank; a window is a mask
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/nn.hpp>
#include <dimwise/ranks/kv_cache.hpp>

struct sp : mesh_axis<2> {};
using key_here = shard<key, sp, striped>;

void decodes(const ranks::mesh<sp>& grid) {
#ifdef FIXED
  using kind = nn::capacity<64>;
#else
  using kind = nn::sliding<64>;
#endif
  ranks::kv_cache<key_here, kind, nn::keys<float, batch, heads, key_here, d_k>,
                  nn::values<float, batch, heads, key_here, d_v>>
      cache(grid);
  (void)cache;
}
