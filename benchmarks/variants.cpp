// SPDX-License-Identifier: BSL-1.0
// benchmarks/variants.cpp -- what changes of scores cost: each variant beside the plain formula, per useful
// multiply-add.
//
//   cmake --workflow --preset bench && build/bench/benchmarks/bench_variants [--only PREFIX] [--seconds S]
//
// 12 heads of 64, one thread, CPU time. The plain formula is measured again before every variant: the last column is
// the variant's GFLOP/s over that of the plain formula that hides as much (causal variants: the causal one). Useful are
// the pairs that are visible. Prints a Markdown table.
#include "workloads.hpp"
#include <dimwise/dimwise.hpp>

#include <algorithm>

namespace {

using namespace dimwise;

struct heads : heads_dim<> {};
struct kv_heads : heads_dim<> {};
struct group : heads_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct text : packed_dim<> {};
struct text_key : prime<text> {};
struct d_k : feature_dim<64> {};
struct d_v : feature_dim<64> {};

constexpr std::size_t head_count = 12;

template <class Tensor, class... Extents>
Tensor filled(unsigned seed, const Extents&... extents) {
  Tensor t(extents...);
  bench::fill(t.data(), t.size(), 1, seed);
  t.seal();
  return t;
}

template <class Q, class K, class... Heads>
struct operands {
  tensor<float, Heads..., Q, d_k> q;
  tensor<float, Heads..., K, d_k> k;
  tensor<float, Heads..., K, d_v> v;
};
template <class Q, class K>
operands<Q, K, heads> drawn(const Q& queries, const K& keys) {
  const heads h{head_count};
  return {filled<tensor<float, heads, Q, d_k>>(1, h, queries), filled<tensor<float, heads, K, d_k>>(2, h, keys),
          filled<tensor<float, heads, K, d_v>>(3, h, keys)};
}

double triangle(double n) { return n * (n + 1) / 2; }
// Pairs of a causal window of w keys.
double band(double n, double w) { return w >= n ? triangle(n) : triangle(w) + (n - w) * w; }

class table {
 public:
  explicit table(const bench::options& o) : options_(o) {
    std::printf("| variant | n | ms | GFLOP/s | of the plain formula |\n|---|---|---|---|---|\n");
  }

  template <class Plain, class Variant>
  void row(const std::string& name, std::size_t n, double plain_pairs, const Plain& plain, double pairs,
           const Variant& variant) {
    if (!options_.wants(name)) { return; }
    const double flops = 2.0 * head_count * 128;
    double ratios[3];
    bench::times t{};
    for (double& ratio : ratios) {  // side by side: the clock moves
      const double base = plain_pairs / bench::measure(options_, plain).median;
      t = bench::measure(options_, variant);
      ratio = pairs / t.median / base;
    }
    std::sort(std::begin(ratios), std::end(ratios));
    std::printf("| %s | %zu | %.3f | %.1f | %.0f %% |\n", name.c_str(), n, t.median, flops * pairs / t.median * 1e-6,
                100 * ratios[1]);
    std::fflush(stdout);
  }

 private:
  const bench::options& options_;
};

void run(const bench::options& o) {
  table to(o);
  for (const std::size_t n : {1024, 4096}) {
    const auto pairs = static_cast<double>(n * n);
    const auto half = triangle(static_cast<double>(n));
    const auto x = drawn(seq{n}, key{n});
    tensor<float, heads, seq, d_v> y;
    const auto plain = [&] { y = nn::attention<d_k, key>(x.q, x.k, x.v); };
    const auto causally = [&] { y = nn::attention<d_k, key>(x.q, x.k, x.v, causal<seq, key>{}); };
    const auto bias = filled<tensor<float, heads, seq, key>>(4, heads{head_count}, seq{n}, key{n});
    const auto of_keys = filled<tensor<float, key>>(5, key{n});
    const auto sinks = filled<tensor<float, heads>>(6, heads{head_count});
    to.row("a bias for each head and pair", n, pairs, plain, pairs,
           [&] { y = nn::attention<d_k, key>(x.q, x.k, x.v, bias); });
    to.row("a bias for each key", n, pairs, plain, pairs, [&] { y = nn::attention<d_k, key>(x.q, x.k, x.v, of_keys); });
    to.row("ALiBi, causal", n, half, causally, half,
           [&] { y = nn::attention<d_k, key>(x.q, x.k, x.v, alibi<seq, key, heads>{}, causal<seq, key>{}); });
    to.row("soft cap", n, pairs, plain, pairs, [&] { y = nn::attention<d_k, key>(x.q, x.k, x.v, nn::soft_cap{30}); });
    to.row("a function of scores", n, pairs, plain, pairs, [&] {
      y = nn::attention<d_k, key>(
          x.q, x.k, x.v, [](const auto& s) { return map([](float e) { return e * 0.5F + e * e * 0.01F; }, s); });
    });
    to.row("sinks", n, pairs, plain, pairs, [&] { y = nn::attention_with_sinks<d_k, key>(x.q, x.k, x.v, sinks); });
    for (const std::size_t w : {128, 512}) {
      const auto seen = band(static_cast<double>(n), static_cast<double>(w));
      to.row("causal window of " + std::to_string(w), n, half, causally, seen, [&, w] {
        y = nn::attention<d_k, key>(x.q, x.k, x.v, window<seq, key>(static_cast<std::ptrdiff_t>(w) - 1, 0));
      });
    }
    to.row("padding of a quarter", n, pairs, plain, pairs * 0.75,
           [&] { y = nn::attention<d_k, key>(x.q, x.k, x.v, padding<key>(n - n / 4)); });
    {
      const auto q = filled<tensor<float, kv_heads, group, seq, d_k>>(1, kv_heads{3}, group{4}, seq{n});
      const auto k = filled<tensor<float, kv_heads, key, d_k>>(2, kv_heads{3}, key{n});
      const auto v = filled<tensor<float, kv_heads, key, d_v>>(3, kv_heads{3}, key{n});
      tensor<float, kv_heads, group, seq, d_v> z;
      to.row("3 key heads for 12", n, pairs, plain, pairs, [&] { z = nn::attention<d_k, key>(q, k, v); });
    }
    {
      const std::vector<extent_t> lengths{n / 2, n / 4, n / 8, n / 8};
      const auto p = drawn(text{lengths}, text_key{lengths});
      tensor<float, heads, text, d_v> z;
      double seen = 0;
      for (const extent_t l : lengths) { seen += triangle(static_cast<double>(l)); }
      to.row("4 documents, causal", n, half, causally, seen, [&] {
        z = nn::attention<d_k, text_key>(p.q, p.k, p.v, document<text, text_key>{} & causal<text, text_key>{});
      });
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  try {
    run(bench::parse(count, arguments));
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", arguments[0], e.what());
    return 2;
  }
}
