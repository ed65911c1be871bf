// benchmarks/kv_cache.cpp -- one decoding step over a cache, by how the cache is stored: time, and bytes read a second.
//
// Build:  cmake --workflow --preset bench, which makes build/bench/benchmarks/bench_kv_cache
// Usage:  bench_kv_cache [positions]
//
//   storage milliseconds GB/s                    32 query heads share 8 key heads of 128 features, one thread, CPU time
//
// "pages" are merged by log-sum-exp, "gathered" copies them together first: what attend() of a paged cache does, and
// what it does not.
//
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/nn/paged_cache.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

namespace {

using namespace dimwise;

struct kv_heads : heads_dim<8> {};
struct group_of : heads_dim<4> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_k : feature_dim<128> {};
struct d_v : feature_dim<128> {};

template <class Kind, class KeyElement, class ValueElement = KeyElement>
using cache_of =
    nn::kv_cache<key, Kind, nn::keys<KeyElement, kv_heads, key, d_k>, nn::values<ValueElement, kv_heads, key, d_v>>;

template <class Tensor, class... Extents>
Tensor filled(unsigned seed, const Extents&... extents) {
  Tensor x(extents...);
  unsigned state = seed;
  for (std::size_t i = 0; i < x.size(); ++i) {
    state = state * 1664525U + 1013904223U;
    x.overwrite()[i] = static_cast<float>(state >> 8U) / 8388608.0F - 1;
  }
  return x;
}

double now() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}
template <class F>
double median_ms(const F& f) {
  std::vector<double> times;
  for (int i = 0; i < 25; ++i) {
    const double begin = now();
    f();
    times.push_back(1e3 * (now() - begin));
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

template <class Cache>
void fill(Cache& cache, std::size_t n) {
  const auto k = filled<tensor<float, kv_heads, key, d_k>>(1, key{n});
  const auto v = filled<tensor<float, kv_heads, key, d_v>>(2, key{n});
  cache.append(k, v);
}

float sink = 0;

template <class Cache>
void measure(const char* name, Cache cache, std::size_t n, double bits) {
  fill(cache, n - 1);
  const auto k = filled<tensor<float, kv_heads, key, d_k>>(3, key{1});
  const auto v = filled<tensor<float, kv_heads, key, d_v>>(4, key{1});
  cache.append(k, v);
  const auto q =
      filled<tensor<float, seq, kv_heads, group_of, d_k>>(5, starting_at(seq{1}, static_cast<std::ptrdiff_t>(n) - 1));
  const double ms = median_ms([&] {
    const auto y =
        nn::attend(cache, [&](const auto& keys) { return masked(scores<d_k>(q, keys), causal<seq, key>{}); });
    sink += y.values()[0];
  });
  const double bytes = 2.0 * static_cast<double>(n) * 8 * 128 * bits / 8;
  std::printf("%-16s %8.3f %8.2f\n", name, ms, bytes / ms / 1e6);
}

template <class Cache>
void measure_gathered(const char* name, Cache cache, std::size_t n) {
  fill(cache, n);
  const auto q =
      filled<tensor<float, seq, kv_heads, group_of, d_k>>(5, starting_at(seq{1}, static_cast<std::ptrdiff_t>(n) - 1));
  const double ms = median_ms([&] {
    const tensor y =
        contract<key>(softmax<key>(masked(scores<d_k>(q, cache.keys()), causal<seq, key>{})), cache.values());
    sink += y.values()[0];
  });
  std::printf("%-16s %8.3f %8.2f\n", name, ms, 2.0 * static_cast<double>(n) * 8 * 128 * 4 / ms / 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t n = argc > 1 ? static_cast<std::size_t>(std::atoi(argv[1])) : 4096;
  using all = nn::capacity<1U << 16U>;
  const tensor<float> one({1.0F / 127});
  const tensor<float> coarse({1.0F / 7});
  const auto per_channel = filled<tensor<float, kv_heads, d_k>>(6);
  const auto per_channel_v = filled<tensor<float, kv_heads, d_v>>(7);
  std::printf("%zu positions\n", n);
  measure("float", cache_of<all, float>(), n, 32);
  measure("bfloat16", cache_of<all, bfloat16>(), n, 16);
  measure("float16", cache_of<all, float16>(), n, 16);
  measure("int8", cache_of<all, nn::int8_by<>>(one, one), n, 8);
  measure("int8 by channel",
          cache_of<all, nn::int8_by<kv_heads, d_k>, nn::int8_by<kv_heads, d_v>>(per_channel, per_channel_v), n, 8);
  measure("int4", cache_of<all, nn::int4_by<>>(coarse, coarse), n, 4);
  measure("pages of 16", cache_of<nn::paged<16>, float>(), n, 32);
  measure("pages of 64", cache_of<nn::paged<64>, float>(), n, 32);
  measure("pages of 256", cache_of<nn::paged<256>, float>(), n, 32);
  measure_gathered("gathered, 16", cache_of<nn::paged<16>, float>(), n);
  measure_gathered("gathered, 64", cache_of<nn::paged<64>, float>(), n);
  measure_gathered("gathered, 256", cache_of<nn::paged<256>, float>(), n);
  return sink == 12345 ? 1 : 0;
}
