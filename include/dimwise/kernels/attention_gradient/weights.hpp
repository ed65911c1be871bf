// dimwise/kernels/attention_gradient/weights.hpp -- weights and gradients of logits from logits, in place.
//
// Layer: kernels. Includes: exp.hpp, attention/pack.hpp, attention/softmax.hpp.
// Tests: tests/kernels/attention_gradient/backward.test.cpp
//
//   p = exp(logit - lse)      d_logit = p (d_p - delta)      delta = d_out . out - d_lse
//
// A hidden pair has the logit -inf. Its weight becomes -0, which marks it, and its gradient 0 for any d_p; likewise the
// pairs of a discarded query, whose lse is +inf.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/attention/pack.hpp>
#include <dimwise/kernels/attention/softmax.hpp>
#include <dimwise/kernels/attention/tile.hpp>
#include <dimwise/kernels/attention_gradient/plan.hpp>
#include <dimwise/kernels/attention_gradient/tile.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/exp.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

/// min(x, 0); keeps NaN. A logit may exceed the rounded logarithm of the sum.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> at_most_zero(const floats<Arch>& x) noexcept {
  const floats<Arch> zero(0.0F);
  if constexpr (is_neon64<Arch>) return select<Arch>(x > zero, zero, x);
  else return min_skip_nan<Arch>(zero, x);  // returns its second operand if that is NaN
}

/// Converts logits in `p` and gradients of weights in `d_s` to weights and gradients of logits, for part of a block.
template <class Arch, bool Hides>
[[gnu::noinline]] void weigh_gradients(element_of<Arch>* p, element_of<Arch>* d_s, const score_tile_place& at,
                                       const element_of<Arch>* lse, const element_of<Arch>* delta) noexcept {
  using vec = floats<Arch>;
  for (std::size_t v = at.first; v < at.last; ++v) {
    const std::size_t lane = v * lanes<Arch>;
    const vec against = load_aligned<Arch>(lse + lane);
    const vec whole = load_aligned<Arch>(delta + lane);
    const mask<Arch> discarded = against == vec(infinity);
    element_of<Arch>* weight = p + at.key * strip_width<Arch> + lane;
    element_of<Arch>* gradient = d_s + at.key * strip_width<Arch> + lane;
    for (std::size_t j = 0; j < at.keys; ++j, weight += strip_width<Arch>, gradient += strip_width<Arch>) {
      const vec logit = load_aligned<Arch>(weight);
      vec w = exp_nonpositive<Arch>(at_most_zero<Arch>(logit - against));
      vec g = w * (load_aligned<Arch>(gradient) - whole);
      if constexpr (Hides) {
        const mask<Arch> hidden = discarded | (logit == vec(-infinity));
        w = select<Arch>(hidden, vec(-0.0F), w);
        g = select<Arch>(hidden, vec(0.0F), g);
      }
      store_aligned<Arch>(weight, w);
      store_aligned<Arch>(gradient, g);
    }
  }
}

/// Replaces the scores of part of a block by c * tanh(score / c), and multiplies `derivative` by the derivative.
template <class Arch, class Cap>
[[gnu::noinline]] void cap_scores(element_of<Arch>* scores, element_of<Arch>* derivative, const score_tile_place& at,
                                  const Cap& cap, bool onto) noexcept {
  using vec = floats<Arch>;
  const vec one(1.0F);
  const vec inverse(cap.inverse);
  for (std::size_t j = at.key; j < at.key + at.keys; ++j) {
    for (std::size_t v = at.first; v < at.last; ++v) {
      const std::size_t place = j * strip_width<Arch> + v * lanes<Arch>;
      const vec capped = cap(load_aligned<Arch>(scores + place));
      const vec t = capped * inverse;
      // (1 - t) (1 + t): 1 - t^2 loses digits if t is nearly 1.
      const vec s = (one - t) * (one + t);
      store_aligned<Arch>(scores + place, capped);
      store_aligned<Arch>(derivative + place, onto ? s * load_aligned<Arch>(derivative + place) : s);
    }
  }
}

/// Multiplies gradients of logits by derivatives; the derivative of a hidden pair may be NaN.
template <class Arch>
[[gnu::noinline]] void apply_derivatives(const element_of<Arch>* p, element_of<Arch>* d_s,
                                         const element_of<Arch>* derivative, const score_tile_place& at) noexcept {
  for (std::size_t j = at.key; j < at.key + at.keys; ++j) {
    for (std::size_t v = at.first; v < at.last; ++v) {
      const std::size_t place = j * strip_width<Arch> + v * lanes<Arch>;
      const mask<Arch> hidden = marks_hidden<Arch>(load_aligned<Arch>(p + place));
      const floats<Arch> g = load_aligned<Arch>(d_s + place) * load_aligned<Arch>(derivative + place);
      store_aligned<Arch>(d_s + place, select<Arch>(hidden, floats<Arch>(0.0F), g));
    }
  }
}

/// The gradient of a bias from the gradients of logits of one strip: queries [0, rows) and keys [0, keys).
template <class Arch>
[[gnu::noinline]] void add_bias_gradient(const element_of<Arch>* d_s, std::size_t rows, std::size_t keys,
                                         const matrix_view<element_of<Arch>>& to) noexcept {
  constexpr std::size_t n = lanes<Arch>;
  if (to.row != 0 && to.feature != 0) {
    for (std::size_t i = 0; i < rows; i += n) {
      for (std::size_t j = 0; j < keys; j += n) {
        const std::size_t high = min(rows - i, n);
        const std::size_t wide = min(keys - j, n);
        square<Arch> added;
        for (std::size_t r = 0; r < n; ++r) {
          added[r] = r < wide ? load_aligned<Arch>(d_s + (j + r) * strip_width<Arch> + i) : floats<Arch>(0.0F);
        }
        transpose<Arch>(added);
        const matrix_view<element_of<Arch>> corner{to.at(i, j), to.row, to.feature};
        square<Arch> old;
        load_square<Arch>(old, {corner.data, corner.row, corner.feature}, high, wide);
        for (std::size_t r = 0; r < n; ++r) added[r] = added[r] + old[r];
        store_square<Arch>(added, corner, high, wide);
      }
    }
    return;
  }
  // A sum over queries, keys, or both: sums this block first, then adds it to the gradient.
  floats<Arch> total(0.0F);
  alignas(64) element_of<Arch> of_query[n];
  for (std::size_t i = 0; i < rows; i += n) {
    const mask<Arch> real = first_lanes<Arch>(min(rows - i, n));
    floats<Arch> of_lane(0.0F);
    for (std::size_t j = 0; j < keys; ++j) {
      const floats<Arch> g =
          select<Arch>(real, load_aligned<Arch>(d_s + j * strip_width<Arch> + i), floats<Arch>(0.0F));
      of_lane = of_lane + g;
      if (to.feature != 0) *to.at(0, j) += reduce_sum<Arch>(g);
    }
    total = total + of_lane;
    if (to.row == 0) continue;
    store_aligned<Arch>(&of_query[0], of_lane);
    for (std::size_t r = 0; r < min(rows - i, n); ++r) *to.at(i + r) += of_query[r];
  }
  if (to.row == 0 && to.feature == 0) *to.data += reduce_sum<Arch>(total);
}

/// add_row_sums for one key and rows that may contain infinities or NaN: a marked pair adds nothing.
template <class Arch>
[[gnu::noinline]] void sum_seen_rows(const element_of<Arch>* marks, const element_of<Arch>* weights,
                                     const lane_range& range, const row_panel<Arch>& x, std::size_t features,
                                     element_of<Arch>* to) noexcept {
  for (std::size_t i = range.begin; i < range.end; ++i) {
    if (__builtin_signbit(marks[i]) != 0 && marks[i] == 0.0F) continue;
    const floats<Arch> weight(weights[i]);
    const element_of<Arch>* const row = x.data + static_cast<std::ptrdiff_t>(i) * x.row;
    for (std::size_t c = 0; c < features; c += lanes<Arch>) {
      store_aligned<Arch>(to + c, fma<Arch>(weight, load_aligned<Arch>(row + c), load_aligned<Arch>(to + c)));
    }
  }
}

/// The same for one feature of the gradient of queries.
template <class Arch>
[[gnu::noinline]] void add_seen_keys(const element_of<Arch>* marks, const element_of<Arch>* weights,
                                     const element_of<Arch>* k, std::ptrdiff_t k_row, const keys_per_vector<Arch>& keys,
                                     std::size_t vectors, element_of<Arch>* to) noexcept {
  for (std::size_t i = 0; i < vectors; ++i) {
    const std::size_t first_lane = i * lanes<Arch>;
    floats<Arch> acc = load_aligned<Arch>(to + first_lane);
    for (std::size_t j = keys.begin[i]; j < keys.end[i]; ++j) {
      const std::size_t place = j * strip_width<Arch> + first_lane;
      const mask<Arch> is_hidden = marks_hidden<Arch>(load_aligned<Arch>(marks + place));
      const floats<Arch> key(k[static_cast<std::ptrdiff_t>(j) * k_row]);
      acc = select<Arch>(is_hidden, acc, fma<Arch>(load_aligned<Arch>(weights + place), key, acc));
    }
    store_aligned<Arch>(to + first_lane, acc);
  }
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
