// MISTAKE: a cache on several ranks that is in pages.
// RULE: R24
// EXPECT: ERROR_R24_operation_goes_over_a_shard<.*append.*written
// VARIANTS: unused
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/nn.hpp>
#include <dimwise/ranks/kv_cache.hpp>

struct sp : mesh_axis<2> {};
struct users : batch_dim<> {};
struct written : position_dim<> {};  // a cache grows along it
using key_here = shard<written, sp, striped>;

void decodes(const ranks::mesh<sp>& grid) {
#ifdef FIXED
  using kind = nn::capacity<64>;
#else
  using kind = nn::paged<64>;
#endif
  ranks::kv_cache<key_here, kind, nn::keys<float, users, heads, key_here, d_k>,
                  nn::values<float, users, heads, key_here, d_v>>
      cache(grid, users{2});
  (void)cache;
}
