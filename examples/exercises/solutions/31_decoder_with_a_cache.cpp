// 31  A decoder with a cache: a solution
//
// HINT: Append before you compute scores: the cache lacks the word of the query.
#include "exercise.hpp"

using namespace dimwise;
using namespace course;

struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_k : feature_dim<4> {};
struct d_v : feature_dim<2> {};
using cache_type = nn::kv_cache<key, nn::capacity<8>, nn::keys<float, key, d_k>, nn::values<float, key, d_v>>;
using words = tensor<float, seq, d_k>;

const auto w_v = some<tensor<float, d_k, d_v>>(1);

auto whole(const words& x) {
  const tensor k = rename<seq, key>(x);
  const tensor v = rename<seq, key>(contract<d_k>(x, w_v));
  return tensor(contract<key>(softmax<key>(masked(scores<d_k>(x, k), causal<seq, key>{})), v));
}

auto step(const words& x, cache_type& cache) {
  cache.append(rename<seq, key>(x), rename<seq, key>(contract<d_k>(x, w_v)));
  const auto s = masked(scores<d_k>(x, cache.keys()), causal<seq, key>{});
  tensor y = contract<key>(softmax<key>(s), cache.values());
  return y;
}

int main() {
  const auto x = some<words>(2, seq{3});
  const tensor wanted = whole(x);
  cache_type cache;
  for (std::size_t n = 0; n < 3; ++n) {
    const words word(x.values().subspan(n * 4, 4), cache.next(seq{1}));
    const tensor y = step(word, cache);
    const auto row = wanted.values().subspan(n * 2, 2);
    expect(near(y, {row[0], row[1]}), "word by word gives what the whole sentence gives");
  }
}
