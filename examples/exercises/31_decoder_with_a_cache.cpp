// 31  A decoder with a KV cache
//
// This program compiles and runs, but its result is wrong. Token by token with a KV cache must give the same result as
// the whole sentence at once. A token attends to itself: its own key must be in the cache when its query attends.
//
// FAILS: when it runs, line 42
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_k : feature_dim<4> {};
struct d_v : feature_dim<2> {};
using cache_type = nn::kv_cache<key, nn::capacity<8>, nn::keys<float, key, d_k>, nn::values<float, key, d_v>>;
using sentence = tensor<float, seq, d_k>;

const auto w_v = some<tensor<float, d_k, d_v>>(1);

auto whole(const sentence& x) {
  const tensor k = rename<seq, key>(x);
  const tensor v = rename<seq, key>(contract<d_k>(x, w_v));
  return tensor(contract<key>(softmax<key>(masked(scores<d_k>(x, k), causal<seq, key>{})), v));
}

auto step(const sentence& x, cache_type& cache) {
  const auto s = masked(scores<d_k>(x, cache.keys()), causal<seq, key>{});
  tensor y = contract<key>(softmax<key>(s), cache.values());
  cache.append(rename<seq, key>(x), rename<seq, key>(contract<d_k>(x, w_v)));
  return y;
}

int main() {
  const auto x = some<sentence>(2, seq{3});
  const tensor expected = whole(x);
  cache_type cache;
  for (std::size_t n = 0; n < 3; ++n) {
    const sentence token(x.values().subspan(n * 4, 4), cache.next(seq{1}));
    const tensor y = step(token, cache);
    const auto row = expected.values().subspan(n * 2, 2);
    expect(near(y, {row[0], row[1]}), "token by token gives the same as the whole sentence");
  }
}
