// tests/fuzz/attention/attention.hpp -- queries, keys and values of random layouts, and what is allowed of attention.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "fuzz/dims.hpp"

#include <cmath>
#include <functional>

namespace fuzz {

/// Where queries and keys are: as many of both from position 0 on; any numbers of them, from positions that are told;
/// both, or any numbers from unknown positions, which masks by position refuse.
enum class positions : unsigned char { equal, told, any };

struct attention_extents {
  batch b;
  seq s;
  key t;
  heads h;
  d_k k;
  d_v v;
};
attention_extents draw_attention(attempt& a, positions where);

/// The largest product of two rows' Euclidean norms: no Σ|q||k| is larger (Cauchy and Schwarz).
double largest_product(std::span<const double> q_norms, std::span<const double> k_norms);
template <class Held>
std::vector<double> norms(const Held& x, std::size_t features) {
  std::vector<double> all;
  for (std::size_t i = 0; features > 0 && i < x.size(); i += features) {
    double total = 0;
    for (std::size_t j = 0; j < features; ++j) { total += double{x[i + j]} * x[i + j]; }
    all.push_back(std::sqrt(total));
  }
  return all;
}

/// What an element of attention may err by: u·(8 + (4 + d/16)·L + n)·Σp|v|. A score errs by its products' roundings,
/// which L = max Σ|q||k| bounds: a few u·L, and more of many equal terms, whose sums are rounded to one side. A weight
/// errs by that and by its exponential's rounding, the sum over n keys by n roundings at most. Fused kernels need u·(4
/// + 2L)·Σp|v| of this where numbers differ; the scalar path sums serially. Weights below the smallest float may count
/// as 0.
template <class Dims>
each<Dims> of_attention(each<Dims> magnitudes, double l, std::size_t features, std::size_t keys, double largest_value) {
  const auto n = static_cast<double>(keys);
  return roundings(std::move(magnitudes), 8 + (4 + static_cast<double>(features) / 16) * l + n,
                   n * 4 * least_float * (1 + largest_value));
}

/// Values of elements that are not read.
float poison(attempt& a);

/// Keys of a batch that no query sees.
using hidden_keys = std::function<bool(std::size_t b, std::size_t j)>;

/// Attention of q [batch, seq, heads, d_k], k [batch, key, heads, d_k], v [batch, key, heads, d_v].
class attention_operands {
 public:
  explicit attention_operands(attempt& a, positions where = positions::told)
      : e(draw_attention(a, where)),
        q(a, "q", numbers(a.random), repeats::sometimes, e.b, e.s, e.h, e.k),
        k(a, "k", numbers(a.random), repeats::never, e.b, e.t, e.h, e.k),
        v(a, "v", numbers(a.random), repeats::never, e.b, e.t, e.h, e.v) {}

  attention_extents e;
  held<float, batch, seq, heads, d_k> q;
  held<float, batch, key, heads, d_k> k;
  held<float, batch, key, heads, d_v> v;

  /// The largest Σ|q||k|/√d of a query and a key.
  [[nodiscard]] double scale() const {
    const std::size_t n = e.k.extent();
    return n == 0 ? 0 : largest_product(norms(q, n), norms(k, n)) / std::sqrt(static_cast<double>(n));
  }

  /// contract<key>(softmax<key>(change(product(q, k))), v). `l` bounds what enters the exponent.
  template <class Product, class Change>
  void check(attempt& a, const Product& product, const Change& change, double l, const hidden_keys& hidden = {}) const {
    const auto of = [&](const auto& keys, const auto& values) {
      return contract<key>(softmax<key>(change(product(q.view(), keys))), values);
    };
    const auto allowed = [&] {
      return of_attention(exactly(of(k.view(), v.magnitudes())), l, e.k.extent(), e.t.extent(), v.largest());
    };
    if (!hidden || a.random.one_in(2)) { return compare(a, of(k.view(), v.view()), allowed); }
    const float bad = poison(a);
    a.note("hidden keys and values are " + std::to_string(bad));
    const auto poisoned = [&](const auto& x) {
      const std::size_t row = x.extent(2) * x.extent(3);
      return x.like(
          [&](std::size_t i, float y) { return hidden(i / row / x.extent(1), i / row % x.extent(1)) ? bad : y; });
    };
    compare(a, of(poisoned(k), poisoned(v)), of(k.view(), v.view()), allowed);
  }
  template <class Change>
  void check(attempt& a, const Change& change, double more = 0, const hidden_keys& hidden = {}) const {
    check(a, [](const auto& x, const auto& y) { return scores<d_k>(x, y); }, change, scale() + more, hidden);
  }
};

/// Masks, drawn.
window<seq, key> draw_window(attempt& a, const attention_extents& e);
/// Whether query i sees key j through a window.
bool in_window(const attention_extents& e, const window<seq, key>& w, std::size_t i, std::size_t j);
/// Keys that no query sees, where visible(b, i, j) says what a query sees.
template <class Visible>
hidden_keys unseen(const attention_extents& e, Visible visible) {
  return [n = e.s.extent(), visible](std::size_t b, std::size_t j) {
    for (std::size_t i = 0; i < n; ++i) {
      if (visible(b, i, j)) { return false; }
    }
    return true;
  };
}
/// Lengths of the keys of each of something.
std::function<int()> draw_lengths(attempt& a, std::size_t keys);
/// Elements of a given mask: mostly true, mostly false, or all one.
std::function<bool()> draw_bools(attempt& a);

}  // namespace fuzz
