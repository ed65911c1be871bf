// 30  The position of the next token
//
// This program compiles, and throws when it runs. `cache.next(seq{1})` is an extent of one position that follows
// everything in the KV cache. A plain `seq{1}` is one position as well, but position 0, so the second token would be
// rotated for the wrong position. The compiler cannot know positions; the library checks them at run time and throws.
//
// FAILS: when it runs, R9
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_k : feature_dim<2> {};
struct d_v : feature_dim<2> {};
using keys = nn::keys<float, key, d_k, rotated<d_k, seq>>;
using cache_type = nn::kv_cache<key, nn::capacity<8>, keys, nn::values<float, key, d_v>>;

void append(cache_type& cache, const tensor<float, seq, d_k>& k, const tensor<float, seq, d_v>& v) {
  cache.append(rotary<key, d_k>(rename<seq, key>(k)), rename<seq, key>(v));
}

int main() {
  cache_type cache;
  const auto first = cache.next(seq{1});
  append(cache, some<tensor<float, seq, d_k>>(1, first), some<tensor<float, seq, d_v>>(2, first));
  const auto second = seq{1};
  append(cache, some<tensor<float, seq, d_k>>(3, second), some<tensor<float, seq, d_v>>(4, second));
  expect(cache.length() == 2, "two tokens");
}
