// dimwise/kernels/rows/forward.hpp -- softmax, log-softmax, layer norm and RMS norm over contiguous rows.
//
// Layer: kernels. Includes: simd.hpp and light standard headers only. With map.hpp and reduce.hpp: all row kernels.
// Tests: tests/kernels/rows/forward.test.cpp
//
// Masked entries are -inf: their weight is exactly `hidden` (0, or -0 for callers that mark hidden weights by the
// sign), even in a row that is fully masked or contains NaN. A visible NaN or +inf makes every visible weight NaN.
// `out` may equal `in`. Pointers need no alignment; zero extents write nothing.
//
//   softmax_row<Arch>(n, scores, weights);
//   layer_norm_row<Arch>(n, x, y, 1e-5F, gamma, beta);  // gamma, beta may be null
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/exp.hpp>
#include <dimwise/kernels/map.hpp>
#include <dimwise/kernels/math.hpp>
#include <dimwise/kernels/rows/reduce.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cmath>
#include <cstddef>
#include <limits>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

namespace detail {

// e^(x - largest) for visible x, `hidden` otherwise. `largest` may be NaN or infinite.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> softmax_weight(const floats<Arch>& x, const floats<Arch>& largest,
                                                                     const floats<Arch>& hidden) noexcept {
  return select<Arch>(x == broadcast<Arch>(minus_infinite), hidden, exp_nonpositive<Arch>(x - largest));
}

// Handles rows without a sum: fully masked, or with a visible NaN or +inf. Returns whether the row is done.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline bool softmax_without_sum(std::size_t n, const element_of<Arch>* in,
                                                                  element_of<Arch>* out, element_of<Arch> largest,
                                                                  element_of<Arch> hidden) noexcept {
  if (largest > minus_infinite && largest < std::numeric_limits<element_of<Arch>>::infinity()) return false;
  const floats<Arch> other = broadcast<Arch>(std::numeric_limits<element_of<Arch>>::quiet_NaN());
  map_floats<Arch>(n, in, out, [&](const floats<Arch>& x) __attribute__((always_inline)) {
    return select<Arch>(x == broadcast<Arch>(minus_infinite), broadcast<Arch>(hidden), other);
  });
  return true;
}

// The sum of e^(x - center); a masked x adds 0.
template <class Arch>
struct exp_step {
  floats<Arch> center;

  [[gnu::always_inline]] floats<Arch> operator()(const floats<Arch>& sum, const floats<Arch>& x) const noexcept {
    return sum + exp_nonpositive<Arch>(x - center);
  }
  [[gnu::always_inline]] floats<Arch> join(const floats<Arch>& a, const floats<Arch>& b) const noexcept {
    return a + b;
  }
};

// Writes unnormalised weights; returns their sum.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> softmax_block(std::size_t n, const element_of<Arch>* in,
                                                                    element_of<Arch>* out, const floats<Arch>& top,
                                                                    const floats<Arch>& none) noexcept {
  floats<Arch> sums = broadcast<Arch>(0.0F);
  for_columns<Arch>(n, [&](std::size_t i, std::size_t count) __attribute__((always_inline)) {
    const floats<Arch> weight = softmax_weight<Arch>(load_some<Arch>(in + i, count), top, none);
    sums =
        sums + (count == lanes<Arch> ? weight : select<Arch>(first_lanes<Arch>(count), weight, broadcast<Arch>(0.0F)));
    store_some<Arch>(out + i, count, weight);
  });
  return sums;
}
// The same for long rows, in blocks with carried sums.
template <class Arch>
[[nodiscard, gnu::noinline]] floats<Arch> softmax_long_row(std::size_t n, const element_of<Arch>* in,
                                                           element_of<Arch>* out, floats<Arch> top,
                                                           floats<Arch> none) noexcept {
  carried_sum<floats<Arch>> sum;
  for (std::size_t at = 0; at < n; at += sum_block) {
    sum += softmax_block<Arch>(n - at < sum_block ? n - at : sum_block, in + at, out + at, top, none);
  }
  return sum.value();
}

// out = (in - center) * scale * gamma + beta; null gamma is 1, null beta is 0.
template <class Arch>
[[gnu::always_inline]] inline void scale_row(std::size_t n, const element_of<Arch>* in, element_of<Arch>* out,
                                             element_of<Arch> center, element_of<Arch> scale,
                                             const element_of<Arch>* gamma, const element_of<Arch>* beta) noexcept {
  for_columns<Arch>(n, [&](std::size_t i, std::size_t count) __attribute__((always_inline)) {
    floats<Arch> x = (load_some<Arch>(in + i, count) - broadcast<Arch>(center)) * broadcast<Arch>(scale);
    if (gamma != nullptr) x = x * load_some<Arch>(gamma + i, count);
    if (beta != nullptr) x = x + load_some<Arch>(beta + i, count);
    store_some<Arch>(out + i, count, x);
  });
}

}  // namespace detail

/// out = e^(in - max) / sum of e^(in - max).
template <class Arch = default_arch>
void softmax_row(std::size_t n, const element_of<Arch>* in, element_of<Arch>* out,
                 element_of<Arch> hidden = 0.0F) noexcept {
  const element_of<Arch> largest = max_row<Arch>(n, in);
  if (detail::softmax_without_sum<Arch>(n, in, out, largest, hidden)) return;
  const floats<Arch> top = broadcast<Arch>(largest);
  const floats<Arch> none = broadcast<Arch>(hidden);
  const floats<Arch> total = n > detail::sum_block ? detail::softmax_long_row<Arch>(n, in, out, top, none)
                                                   : detail::softmax_block<Arch>(n, in, out, top, none);
  zip_number<Arch>(n, out, 1.0F / reduce_sum<Arch>(total), out, multiply_of{});
}

/// out = in - max - log(sum of e^(in - max)); -inf for masked entries.
template <class Arch = default_arch>
void log_softmax_row(std::size_t n, const element_of<Arch>* in, element_of<Arch>* out) noexcept {
  const element_of<Arch> largest = max_row<Arch>(n, in);
  if (detail::softmax_without_sum<Arch>(n, in, out, largest, minus_infinite)) return;
  const floats<Arch> top = broadcast<Arch>(largest);
  const floats<Arch> sums = detail::fold_sum_row<Arch>(n, in, detail::exp_step<Arch>{top});
  const floats<Arch> shift = broadcast<Arch>(log_of{}(broadcast<Arch>(reduce_sum<Arch>(sums))).get(0));
  map_floats<Arch>(n, in, out, [&](const floats<Arch>& x) __attribute__((always_inline)) { return x - top - shift; });
}

/// out = (in - mean) / sqrt(variance + eps) * gamma + beta; the (biased) variance is computed in a second pass.
template <class Arch = default_arch>
void layer_norm_row(std::size_t n, const element_of<Arch>* in, element_of<Arch>* out, element_of<Arch> eps,
                    const element_of<Arch>* gamma = nullptr, const element_of<Arch>* beta = nullptr) noexcept {
  const element_of<Arch> mean = mean_row<Arch>(n, in);
  const detail::square_step<Arch> step{broadcast<Arch>(mean)};
  const element_of<Arch> squares = reduce_sum<Arch>(detail::fold_sum_row<Arch>(n, in, step));
  const element_of<Arch> scale = 1.0F / std::sqrt(squares / static_cast<element_of<Arch>>(n) + eps);
  detail::scale_row<Arch>(n, in, out, mean, scale, gamma, beta);
}

/// out = in / sqrt(mean of in^2 + eps) * gamma.
template <class Arch = default_arch>
void rms_norm_row(std::size_t n, const element_of<Arch>* in, element_of<Arch>* out, element_of<Arch> eps,
                  const element_of<Arch>* gamma = nullptr) noexcept {
  const detail::square_step<Arch> step{broadcast<Arch>(0.0F)};
  const element_of<Arch> squares = reduce_sum<Arch>(detail::fold_sum_row<Arch>(n, in, step));
  const element_of<Arch> scale = 1.0F / std::sqrt(squares / static_cast<element_of<Arch>>(n) + eps);
  detail::scale_row<Arch>(n, in, out, 0.0F, scale, gamma, nullptr);
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION
