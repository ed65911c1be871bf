// 30  Where the next word is
//
// This one compiles. A new word's extent says where it is: `cache.next(seq{1})` is one position behind all that the
// cache holds. `seq{1}` is one position, too, but the first: the word is rotated for place 0. What the compiler cannot
// know is checked when the program runs.
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

void remember(cache_type& cache, const tensor<float, seq, d_k>& k, const tensor<float, seq, d_v>& v) {
  cache.append(rotary<key, d_k>(rename<seq, key>(k)), rename<seq, key>(v));
}

int main() {
  cache_type cache;
  const auto first = cache.next(seq{1});
  remember(cache, some<tensor<float, seq, d_k>>(1, first), some<tensor<float, seq, d_v>>(2, first));
  const auto second = seq{1};
  remember(cache, some<tensor<float, seq, d_k>>(3, second), some<tensor<float, seq, d_v>>(4, second));
  expect(cache.length() == 2, "two words");
}
