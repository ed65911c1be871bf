// SPDX-License-Identifier: BSL-1.0
// tests/dispatch/checks.hpp -- attention, products and rows once each, against the formula in float64 and the plain
// loops.
//
// No test framework: the same file runs on other machines under an emulator. The bounds are those of the documentation:
// attention errs by at most 2 · u · (4 + 2L) · Σ p|v|, with u = 2⁻²⁴ and L the largest Σ|q·k| · scale.
#pragma once

#include <dimwise/dimwise.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>

namespace dispatch {

using namespace dimwise;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct heads : heads_dim<3> {};
struct per_head : heads_dim<4> {};
struct d_model : feature_dim<69> {};
struct word : choice_dim<69> {};
struct d_k : feature_dim<> {};
struct d_v : feature_dim<> {};

constexpr double u = 1.0 / (1 << 24);

class checker {
 public:
  /// Where kernels run, the plan that must have run; otherwise the scalar path.
  template <class E, class Scale>
  void check(const char* what, plan_kind plan, const E& e, const Scale& bound) {
    reset_plans();
    const auto fast = evaluate(e);
    if (!kernels::available) { plan = plan_kind::plain; }
    if (plans_run()[plan] == 0) { fail(what, "another plan ran than", name_of(plan)); }
    const auto exact = reference(e);
    const auto scalar = evaluate_plainly(e);
    const auto scale = reference(bound);
    double worst = 0;
    double apart = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const double allowed = scale.values()[i];
      worst = std::fmax(worst, error(fast.values()[i], exact.values()[i], allowed));
      apart = std::fmax(apart, error(fast.values()[i], static_cast<double>(scalar.values()[i]), 2 * allowed));
    }
    std::printf("%-28s %-9s %7zu elements, error %.3f of what is allowed, from the scalar path %.3f\n", what,
                name_of(plan), exact.size(), worst, apart);
    if (!(worst <= 1) || !(apart <= 1) || exact.size() == 0) { fail(what, "the error is too large:", "see above"); }
    ++checks_;
  }
  void fail(const char* what, const char* how, const char* more) {
    std::printf("FAILED %s: %s %s\n", what, how, more);
    ++failed_;
  }
  /// Prints the count; the exit code.
  [[nodiscard]] int result() const {
    std::printf("%d passed, %d failed\n", checks_ < failed_ ? 0 : checks_ - failed_, failed_);
    return failed_ == 0 && checks_ > 0 ? 0 : 1;
  }
  void passed() { ++checks_; }

 private:
  static double error(float got, double wanted, double allowed) {
    if (std::isnan(got) || std::isnan(wanted)) { return INFINITY; }
    const double off = std::fabs(static_cast<double>(got) - wanted);
    return off == 0 ? 0 : off / allowed;
  }
  int checks_ = 0;
  int failed_ = 0;
};

template <class T>
T numbers(T t, unsigned seed) {
  unsigned x = seed * 2654435761U + 12345U;
  for (std::size_t i = 0; i < t.size(); ++i) {
    x = x * 1664525U + 1013904223U;
    t.data()[i] = static_cast<float>(x >> 8) * (4.0F / 16777216.0F) - 2.0F;
  }
  return t;
}

template <class Q, class K>
double largest_score(const Q& q, const K& k, double scale) {
  const auto sums = reference(contract<d_k>(abs(q), abs(k)));
  double largest = 0;
  for (const double s : sums.values()) { largest = std::fmax(largest, s * scale); }
  return largest;
}

inline void attentions(checker& c, std::size_t queries, std::size_t keys, std::size_t width, std::size_t values) {
  const auto q = numbers(tensor<float, heads, seq, d_k>(seq{queries}, d_k{width}), 1);
  const auto k = numbers(tensor<float, heads, key, d_k>(key{keys}, d_k{width}), 2);
  const auto v = numbers(tensor<float, heads, key, d_v>(key{keys}, d_v{values}), 3);
  const double room = 2 * u * (4 + 2 * largest_score(q, k, 1 / std::sqrt(static_cast<double>(width))));
  const auto s = scores<d_k>(q, k);
  const auto of = [&](const auto& weights) { return contract<key>(weights, v); };
  const auto bound = [&](const auto& weights) {
    return contract<key>(weights, abs(v)) * static_cast<float>(room) + 1e-30F;
  };
  const auto full = softmax<key>(s);
  c.check("attention", plan_kind::attention, of(full), bound(full));
  if (queries == keys) {
    const auto before = softmax<key>(masked(s, causal<seq, key>{}));
    c.check("attention, causal", plan_kind::attention, of(before), bound(before));
    const auto near = softmax<key>(masked(s, window<seq, key>{5, 2}));
    c.check("attention, window", plan_kind::attention, of(near), bound(near));
  }
}

inline void decodes(checker& c, std::size_t keys) {
  const auto q = numbers(tensor<float, heads, per_head, seq, d_k>(seq{1}, d_k{40}), 4);
  const auto k = numbers(tensor<float, heads, key, d_k>(key{keys}, d_k{40}), 5);
  const auto v = numbers(tensor<float, heads, key, d_v>(key{keys}, d_v{24}), 6);
  const auto weights = softmax<key>(scores<d_k>(q, k));
  const double room = 2 * u * (4 + 2 * largest_score(q, k, 1 / std::sqrt(40.0)));
  c.check("decode", plan_kind::decode, contract<key>(weights, v),
          contract<key>(weights, abs(v)) * static_cast<float>(room));
}

inline void products(checker& c, std::size_t rows) {
  const auto x = numbers(tensor<float, batch, seq, d_model>(batch{2}, seq{rows}), 7);
  const auto w = numbers(tensor<float, d_model, heads, d_k>(d_k{19}), 8);
  const auto size = contract<d_model>(abs(x), abs(w));
  c.check("product", plan_kind::product, contract<d_model>(x, w), size * static_cast<float>(69 * u));
  const auto bias = numbers(tensor<float, heads, d_k>(d_k{19}), 10);
  const auto residual = numbers(tensor<float, batch, seq, heads, d_k>(batch{2}, seq{rows}, d_k{19}), 11);
  // gelu's slope is 1.13 at most, and its own error 8 roundings of its result.
  c.check("product and epilogue", plan_kind::product, residual + gelu(contract<d_model>(x, w) + bias),
          (size + 8.0F) * static_cast<float>(100 * u));
}

inline void rows_of_numbers(checker& c) {
  const auto x = numbers(tensor<float, batch, d_model>(batch{5}), 9);
  const auto p = softmax<word>(relabel<d_model, word>(x));
  c.check("softmax", plan_kind::rows, p, plain(p) * static_cast<float>(2 * u * (4 + 2 * 2)));
  c.check("layer_norm", plan_kind::rows, layer_norm<d_model>(x),
          (abs(layer_norm<d_model>(x)) + 1.0F) * static_cast<float>(16 * u));
  const auto gamma = numbers(tensor<float, d_model>(), 12);
  c.check("layer_norm, gamma, beta", plan_kind::rows, layer_norm<d_model>(x, gamma, gamma),
          (abs(layer_norm<d_model>(x) * gamma) + 4.0F) * static_cast<float>(16 * u));
  c.check("gelu", plan_kind::map, gelu(x), (abs(x) + 0.125F) * static_cast<float>(8 * u));
}

/// Everything; says which kernels ran.
inline int run(const char* architecture) {
  checker c;
#if defined(DIMWISE_PLAIN_ONLY)
  const char* const used = "none";
#else
  const char* const used = kernels::active().architecture;
#endif
  std::printf("kernels: %s\n", used);
  if (architecture != nullptr && std::strcmp(used, architecture) != 0) {
    c.fail("kernels", "these run, not those for", architecture);
  }
  attentions(c, 67, 67, 24, 20);
  attentions(c, 130, 130, 64, 64);
  attentions(c, 9, 300, 17, 33);
  attentions(c, 6, 6, 24, 28);
  decodes(c, 7);
  decodes(c, 517);
  products(c, 3);
  products(c, 61);
  rows_of_numbers(c);
  return c.result();
}

}  // namespace dispatch
