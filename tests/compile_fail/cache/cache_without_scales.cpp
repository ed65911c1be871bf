// MISTAKE: a cache of 8 bits is made without the scales of its whole numbers.
// RULE: R10
// EXPECT: ERROR_R10_whole_numbers_are_stored_by_scales<.*.*rows.*heads
// VARIANTS: equal unused dynamic
#include "../prelude.hpp"
#include <dimwise/nn/cache.hpp>

namespace demo {
struct rows : batch_dim<> {};
struct past : prime<seq, at_run_time> {};
using bytes = nn::int8_by<heads>;
using cache_type = nn::kv_cache<past, nn::capacity<8>, nn::keys<bytes, rows, heads, past, d_k>,
                                nn::values<bytes, rows, heads, past, d_v>>;
}  // namespace demo

#if defined DYNAMIC
#define HEADS , heads{3}, d_k{8}, d_v{10}
#else
#define HEADS
#endif

void make(const tensor<float, heads>& k_scale, const tensor<float, heads>& v_scale) {
#ifdef FIXED
  [[maybe_unused]] const cache_type cache(k_scale, v_scale, rows{2} HEADS);
#else
  [[maybe_unused]] const cache_type cache(rows{2} HEADS);
#endif
}
