// dimwise/kernels/attention/small.hpp -- attention of a few dozen queries and keys, without planning.
//
// Layer: kernels. Includes: attention/pack.hpp, exp.hpp, table.hpp.
// Tests: tests/kernels/attention/small.test.cpp. Benchmark: benchmarks/kernels/attention.cpp
//
// No tasks, blocks or running maximum: all weights of a group of queries fit on the stack. As in the large kernel,
// lanes are queries until the weights are known; then lanes are features, so that results are stored without a
// transposition.
//
//   if (!attention_small<Arch>(call)) attention<Arch>(call.layout, …);
//
// History: 1. the large kernel, 200 ns for 6 queries and keys of 24 and 28 features; 2. a template over all extents in
// the caller's file, 80 ns, but only for the caller's architecture; 3. this file, the same time for any extents.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/attention/pack.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/dispatch/table.hpp>
#include <dimwise/kernels/exp.hpp>
#include <dimwise/kernels/min_max.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

namespace detail {

// The limit of the stack buffers; beyond it the large kernel is as fast.
inline constexpr std::size_t small_keys = 48;
inline constexpr std::size_t small_features = 128;
// Multiply-adds of a call from which its heads are distributed to threads.
inline constexpr std::size_t small_attention = std::size_t{1} << 19;

// A register of 16 floats for 6 queries wastes ten lanes and takes twice the shuffles of one of 8.
#if XSIMD_WITH_AVX512F && XSIMD_WITH_FMA3_AVX2
template <class Arch>
using half_arch = std::conditional_t<is_avx512<Arch>, xsimd::fma3<xsimd::avx2>, Arch>;
#else
template <class Arch>
using half_arch = Arch;
#endif

// One head, up to one register of its queries. Arch distinguishes the symbols of different architectures.
template <class Arch, class Lanes>
class small_group {
 public:
  static constexpr std::size_t width = lanes<Lanes>;

  small_group(const attention_layout& layout, const attention_head& head, std::size_t first, std::size_t queries,
              std::size_t keys) noexcept
      : layout_(layout), head_(head), first_(first), queries_(queries), keys_(keys) {}

  /// Returns false without writing if a score is -inf and its value is not finite: their product is NaN.
  [[nodiscard]] bool run(bool values_are_finite) noexcept {
    transpose_queries();
    for (std::size_t j = 0; j < keys_;) j += keys_ - j <= 6 ? score_keys<6>(j) : score_keys<12>(j);
    const bool leaves_out = weigh();
    if (leaves_out && !values_are_finite && !all_finite<Arch>(head_.v, layout_.v_row, keys_, layout_.value_dim))
      return false;
    for (std::size_t c = 0; c < layout_.value_dim;) {
      const std::size_t left = layout_.value_dim - c;
      c += left <= lanes<Arch> ? add_values<12, 1>(c, left) : add_values<6, 2>(c, left);
    }
    return true;
  }

 private:
  using vec = floats<Lanes>;

  void transpose_queries() noexcept {
    const vec scale(layout_.scale);
    const float* const q = head_.q + static_cast<std::ptrdiff_t>(first_) * layout_.q_row;
    for (std::size_t c = 0; c < layout_.head_dim; c += width) {
      const std::size_t wide = min(width, layout_.head_dim - c);
      square<Lanes> corner;
#pragma GCC unroll 16
      for (std::size_t i = 0; i < width; ++i) {
        // Lanes past the last query repeat it; their results are not stored.
        const float* row = q + static_cast<std::ptrdiff_t>(min(i, queries_ - 1)) * layout_.q_row + c;
        corner[i] = wide == width ? load<Lanes>(row) : load_partial<Lanes>(row, wide);
      }
      transpose<Lanes>(corner);
#pragma GCC unroll 16
      for (std::size_t r = 0; r < width; ++r) store_aligned<Lanes>(&strip_[c + r][0], corner[r] * scale);
    }
  }

  // Scores of the keys from `begin` on; rows past the last key repeat it.
  template <std::size_t Count>
  [[gnu::always_inline]] std::size_t score_keys(std::size_t begin) noexcept {
    const float* key[Count];
    vec score[Count];
#pragma GCC unroll 12
    for (std::size_t j = 0; j < Count; ++j) {
      key[j] = head_.k + static_cast<std::ptrdiff_t>(min(begin + j, keys_ - 1)) * layout_.k_row;
      score[j] = vec(0.0F);
    }
    for (std::size_t c = 0; c < layout_.head_dim; ++c) {
      const vec query = load_aligned<Lanes>(&strip_[c][0]);
#pragma GCC unroll 12
      for (std::size_t j = 0; j < Count; ++j) score[j] = fma<Lanes>(vec(key[j][c]), query, score[j]);
    }
#pragma GCC unroll 12
    for (std::size_t j = 0; j < Count; ++j) store_aligned<Lanes>(&weights_[begin + j][0], score[j]);
    return Count;
  }

  void hide_by_window() noexcept {
    const auto clamp = [](std::ptrdiff_t at) {
      constexpr std::ptrdiff_t limit = std::ptrdiff_t{1} << 30;
      return ints<Lanes>(static_cast<std::int32_t>(at < -limit ? -limit : at > limit ? limit : at));
    };
    const key_window& w = layout_.window;
    const ints<Lanes> query = lane_indices<Lanes>();
    for (std::size_t j = 0; j < keys_; ++j) {
      const std::ptrdiff_t diagonal = static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(first_) - w.offset;
      vec s = load_aligned<Lanes>(&weights_[j][0]);
      s = select<Lanes>(as_mask<Lanes>(query < clamp(diagonal - w.after)), vec(-infinity), s);
      s = select<Lanes>(as_mask<Lanes>(query > clamp(diagonal + w.before)), vec(-infinity), s);
      store_aligned<Lanes>(&weights_[j][0], s);
    }
  }

  // Converts scores to normalised weights in place; returns whether a score was -inf.
  [[nodiscard]] bool weigh() noexcept {
    const key_window& w = layout_.window;
    if (w.before != key_window::unbounded || w.after != key_window::unbounded) hide_by_window();
    const vec nothing(-infinity);
    vec maximum = nothing;
    vec minimum(infinity);
    for (std::size_t j = 0; j < keys_; ++j) {
      const vec logit = load_aligned<Lanes>(&weights_[j][0]);
      maximum = max_skip_nan<Lanes>(logit, maximum);
      minimum = min_skip_nan<Lanes>(logit, minimum);
    }
    const vec against = select<Lanes>(maximum == nothing, vec(0.0F), maximum);
    vec sum(0.0F);
    for (std::size_t j = 0; j < keys_; ++j) {
      const vec weight = exp_nonpositive<Lanes>(load_aligned<Lanes>(&weights_[j][0]) - against);
      sum = sum + weight;
      store_aligned<Lanes>(&weights_[j][0], weight);
    }
    const vec inverse = select<Lanes>(sum == vec(0.0F), vec(0.0F), vec(1.0F) / sum);
    for (std::size_t j = 0; j < keys_; ++j) {
      store_aligned<Lanes>(&weights_[j][0], load_aligned<Lanes>(&weights_[j][0]) * inverse);
    }
    return xsimd::any(minimum == nothing);
  }

  // out[i] = sum_j weights[j][i] v[j] for `Vectors` registers of features from `column` on, `Rows` queries at a time.
  template <std::size_t Rows, std::size_t Vectors>
  [[gnu::always_inline]] std::size_t add_values(std::size_t column, std::size_t left) noexcept {
    constexpr std::size_t n = lanes<Arch>;
    const std::size_t tail = min(n, left - (Vectors - 1) * n);
    const auto read = [&](const float* from, std::size_t x) __attribute__((always_inline)) {
      return x + 1 == Vectors && tail != n ? load_partial<Arch>(from + x * n, tail) : load<Arch>(from + x * n);
    };
    for (std::size_t begin = 0; begin < queries_; begin += Rows) {
      const float* weight[Rows];
      floats<Arch> acc[Rows][Vectors];
#pragma GCC unroll 12
      for (std::size_t i = 0; i < Rows; ++i) {
        weight[i] = &weights_[0][min(begin + i, queries_ - 1)];
#pragma GCC unroll 2
        for (std::size_t x = 0; x < Vectors; ++x) acc[i][x] = floats<Arch>(0.0F);
      }
      const float* v = head_.v + column;
      for (std::size_t j = 0; j < keys_; ++j, v += layout_.v_row) {
        floats<Arch> value[Vectors];
#pragma GCC unroll 2
        for (std::size_t x = 0; x < Vectors; ++x) value[x] = read(v, x);
#pragma GCC unroll 12
        for (std::size_t i = 0; i < Rows; ++i) {
          const floats<Arch> number(weight[i][j * width]);
#pragma GCC unroll 2
          for (std::size_t x = 0; x < Vectors; ++x) acc[i][x] = fma<Arch>(number, value[x], acc[i][x]);
        }
      }
      float* out = head_.out + static_cast<std::ptrdiff_t>(first_ + begin) * layout_.out_row + column;
#pragma GCC unroll 12
      for (std::size_t i = 0; i < Rows; ++i, out += layout_.out_row) {
        if (begin + i >= queries_) break;
#pragma GCC unroll 2
        for (std::size_t x = 0; x < Vectors; ++x) {
          if (x + 1 == Vectors && tail != n) store_partial<Arch>(out + x * n, tail, acc[i][x]);
          else store<Arch>(out + x * n, acc[i][x]);
        }
      }
    }
    return Vectors * n;
  }

  const attention_layout& layout_;
  const attention_head& head_;
  std::size_t first_;
  std::size_t queries_;
  std::size_t keys_;
  alignas(64) float strip_[small_features + width][width];
  alignas(64) float weights_[small_keys + 12][width];
};

// Whether the window hides a key from some query: then a value that is not finite must not be multiplied by 0.
[[nodiscard, gnu::always_inline]] inline bool hides(const attention_layout& layout, std::size_t keys) noexcept {
  const key_window& w = layout.window;
  const auto last_query = static_cast<std::ptrdiff_t>(layout.queries) - 1;
  return w.offset + w.after < static_cast<std::ptrdiff_t>(keys) - 1 || last_query + w.offset - w.before > 0;
}

template <class Arch, class Lanes>
[[nodiscard, gnu::noinline]] bool small_head(const attention_layout& layout, const attention_head& head,
                                             std::size_t keys, bool values_are_finite) noexcept {
  for (std::size_t first = 0; first < layout.queries; first += lanes<Lanes>) {
    const std::size_t left = layout.queries - first;
    if (!small_group<Arch, Lanes>(layout, head, first, left < lanes<Lanes> ? left : lanes<Lanes>, keys)
             .run(values_are_finite))
      return false;
  }
  return true;
}

}  // namespace detail

/// Attention of every head of a small call; returns false without computing if the call is too large, or has a bias, an
/// elementwise mask or a function of scores.
template <class Arch>
[[nodiscard]] bool attention_small(const attention_call& call) noexcept {
  const attention_layout& l = call.layout;
  if (l.queries == 0 || l.keys > detail::small_keys || l.head_dim > detail::small_features || call.score.any())
    return false;
  if (call.count * l.queries * l.keys * (l.head_dim + l.value_dim) > detail::small_attention) return false;
  if (l.q_feature != 1 || l.k_feature != 1 || l.v_feature != 1 || l.out_feature != 1) return false;
  for (std::size_t i = 0; i < call.count; ++i) {
    const attention_head& head = call.heads[i];
    const std::size_t keys = head.visible_keys < l.keys ? head.visible_keys : l.keys;
    if (head.k == nullptr || head.v == nullptr) return false;  // low-precision keys or values
    if (head.bias != nullptr || head.allow != nullptr || head.lse != nullptr || keys == 0) return false;
    const bool hidden = detail::hides(l, keys);
    if (hidden && !detail::all_finite<Arch>(head.v, l.v_row, keys, l.value_dim)) return false;
    using half = detail::half_arch<Arch>;
    bool done = false;
    if constexpr (std::is_same_v<half, Arch>) {
      done = detail::small_head<Arch, Arch>(l, head, keys, hidden);
    } else {
      done = l.queries <= lanes<half> ? detail::small_head<Arch, half>(l, head, keys, hidden)
                                      : detail::small_head<Arch, Arch>(l, head, keys, hidden);
    }
    if (!done) return false;
  }
  return true;
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION
