// 30  The position of the next token: a solution
//
// HINT: Construct the second token with the extent that the cache gives: `cache.next(seq{1})`.
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
  const auto second = cache.next(seq{1});
  append(cache, some<tensor<float, seq, d_k>>(3, second), some<tensor<float, seq, d_v>>(4, second));
  expect(cache.length() == 2, "two tokens");
}
