// MISTAKE: a paged cache grows along positions whose number is a part of their type; its use adds no error.
// RULE: R10
// EXPECT: ERROR_R10_cache_grows_along_a_run_time_extent<.*append.*all_keys
#include "../prelude.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/nn/paged_cache.hpp>

struct step : position_dim<> {};
#ifdef FIXED
struct all_keys : prime<step> {};
#else
struct all_keys : position_dim<64> {};
#endif
extern const tensor<float, heads, step, d_k> query;

void attend() {
  nn::kv_cache<all_keys, nn::paged<8>, nn::keys<float, heads, all_keys, d_k>, nn::values<float, heads, all_keys, d_v>>
      pages;
  RESULT y = nn::attend(pages, [](const auto& k) { return scores<d_k>(query, k); });
}
