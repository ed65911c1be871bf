// 29  Keys and values are appended together
//
// Generation keeps the keys and values of all previous tokens. If keys are appended without values, the two are
// misaligned from then on. `append` takes both.
//
// FAILS: ERROR_R10_keys_and_values_grow_together, line 22
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_k : feature_dim<2> {};
struct d_v : feature_dim<2> {};
using cache_type = nn::kv_cache<key, nn::capacity<8>, nn::keys<float, key, d_k>, nn::values<float, key, d_v>>;

int main() {
  cache_type cache;
  const auto k = some<tensor<float, key, d_k>>(1, key{3});
  const auto v = some<tensor<float, key, d_v>>(2, key{3});
  cache.append(k);
  expect(cache.length() == 3, "three keys, three values");
}
