// SPDX-License-Identifier: BSL-1.0
// 18_kv_cache -- text written token by token: what a cache saves, counted, and that it changes nothing.
//
// Shows: without a cache a step attends from every position to every position, O(n²); with one, from the new position
// to all before it, O(n). The cache's type says what it holds, where it grows and how far.
#include "support/difference.hpp"
#include <dimwise/dimwise.hpp>
#include <dimwise/nn/cache.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <vector>

namespace lesson {
struct seq : dimwise::position_dim<> {};
struct key : dimwise::prime<seq> {};
struct d_model : dimwise::feature_dim<8> {};
struct heads : dimwise::heads_dim<2> {};
struct d_k : dimwise::divided<d_model, heads> {};
struct d_v : dimwise::divided<d_model, heads> {};
}  // namespace lesson

using namespace dimwise;
using namespace lesson;

namespace {

// Numbers for the weights and the tokens: any will do.
template <class Tensor, class... Extents>
Tensor some(unsigned seed, const Extents&... extents) {
  Tensor x(extents...);
  std::vector<float> values(x.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(std::sin(1.7 * static_cast<double>(i + 1) + seed));
  }
  x.assign(values);
  return x;
}

const auto w_q = some<tensor<float, d_model, heads, d_k>>(1);
const auto w_k = some<tensor<float, d_model, heads, d_k>>(2);
const auto w_v = some<tensor<float, d_model, heads, d_v>>(3);

// Multiply-adds of a projection and of attention, from the extents alone.
std::size_t projections(std::size_t positions) {
  return positions * d_model::static_extent * heads::static_extent * 3 * d_k::static_extent;
}
std::size_t attention(std::size_t queries, std::size_t keys) {
  return queries * keys * heads::static_extent * (d_k::static_extent + d_v::static_extent);
}

// [whole]
// Everything again: the output at all positions, of which only the last is new.
auto without_cache(const tensor<float, seq, d_model>& x, std::size_t& count) {
  const tensor q = rotary<seq, d_k>(contract<d_model>(x, w_q));
  const tensor k = rotary<key, d_k>(rename<seq, key>(contract<d_model>(x, w_k)));
  const tensor v = rename<seq, key>(contract<d_model>(x, w_v));
  count += projections(extent_of<seq>(x)) + attention(extent_of<seq>(q), extent_of<key>(k));
  return tensor(contract<key>(softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{})), v));
}
// [/whole]

// [step]
// rotated<d_k, seq> is part of the type: keys that are not rotated, or values that are, do not compile.
using cache_type = nn::kv_cache<key, nn::capacity<64>, nn::keys<float, heads, key, d_k, rotated<d_k, seq>>,
                                nn::values<float, heads, key, d_v>>;

// One position: append its key and value to the cache; its query attends to all positions so far.
auto with_cache(const tensor<float, seq, d_model>& x, cache_type& cache, std::size_t& count) {
  const tensor q = rotary<seq, d_k>(contract<d_model>(x, w_q));
  const auto k = rotary<key, d_k>(rename<seq, key>(contract<d_model>(x, w_k)));
  const auto v = rename<seq, key>(contract<d_model>(x, w_v));
  cache.append(k, v);
  count += projections(extent_of<seq>(x)) + attention(extent_of<seq>(q), cache.length());
  return tensor(contract<key>(softmax<key>(masked(scores<d_k>(q, cache.keys()), causal<seq, key>{})), cache.values()));
}
// [/step]

}  // namespace

int main() {
  const std::size_t tokens = 32;
  const auto text = some<tensor<float, seq, d_model>>(4, seq{tokens});
  cache_type cache;
  std::cout << "multiply-adds of step n, and of all steps up to it\n";
  std::printf("%4s %14s %14s %14s %14s\n", "n", "with cache", "without", "all with", "all without");
  std::size_t all_with = 0;
  std::size_t all_without = 0;
  double apart = 0;
  for (std::size_t n = 1; n <= tokens; ++n) {
    std::size_t with = 0;
    std::size_t without = 0;
    // The new token begins where the cache ends: its positions, and so its rotation, follow from the extent.
    const tensor<float, seq, d_model> token(text.values().subspan((n - 1) * 8, 8), cache.next(seq{1}));
    const tensor y = with_cache(token, cache, with);
    const tensor<float, seq, d_model> so_far(text.values().first(n * 8), seq{n});
    const tensor whole = without_cache(so_far, without);
    const tensor last = slice<seq>(whole, n - 1, 1);
    apart = std::max(apart, static_cast<double>(examples::largest_difference(y.values(), last.values())));
    all_with += with;
    all_without += without;
    if ((n & (n - 1)) == 0) { std::printf("%4zu %14zu %14zu %14zu %14zu\n", n, with, without, all_with, all_without); }
  }
  std::printf("the same outputs: %s\n", apart < 1e-5 ? "yes" : "no");
  std::cout << "cached keys: " << describe(cache.keys()) << '\n';
  std::cout << "cached values: " << describe(cache.values()) << '\n';

  // What does not fit throws, and the cache stays as it was.
  try {
    cache.append(rotary<key, d_k>(some<tensor<float, heads, key, d_k>>(5, cache.next(key{33}))),
                 some<tensor<float, heads, key, d_v>>(6, key{33}));
  } catch (const extent_error& e) { std::printf("%s; it still holds %zu\n", e.what(), cache.length()); }
}
