// 40  A new text in an old cache: a solution
//
// HINT: `cache.restart(0)` removes the first text.
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_k : feature_dim<2> {};
struct d_v : feature_dim<2> {};
using keys = nn::keys<float, key, d_k, rotated<d_k, seq>>;
using cache_type = nn::kv_cache<key, nn::capacity<8>, keys, nn::values<float, key, d_v>>;

void read(cache_type& cache, const tensor<float, seq, d_k>& k, const tensor<float, seq, d_v>& v) {
  cache.append(rotary<key, d_k>(rename<seq, key>(k)), rename<seq, key>(v));
}

int main() {
  const auto text = [](unsigned seed) { return some<tensor<float, seq, d_k>>(seed, starting_at(seq{3}, 0)); };
  const auto values = some<tensor<float, seq, d_v>>(3, seq{3});
  cache_type cache, fresh;
  read(cache, text(1), values);
  cache.restart(0);
  read(cache, text(2), values);
  read(fresh, text(2), values);
  expect(cache.length() == 3 && cache.end() == 3, "the cache holds the second text");
  expect(near(max<key, d_k>(abs(cache.keys() - fresh.keys())), {0}), "its keys are those of a new cache");
}
