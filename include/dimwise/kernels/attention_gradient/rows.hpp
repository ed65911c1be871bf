// dimwise/kernels/attention_gradient/rows.hpp -- copies between rows in memory and the panels of the attention backward
// pass.
//
// Layer: kernels. Includes: attention/pack.hpp.
// Tests: tests/kernels/attention_gradient/backward.test.cpp
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/attention/pack.hpp>
#include <dimwise/kernels/attention/plan.hpp>
#include <dimwise/kernels/dispatch/configuration.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail {

/// to[i] = a[i] . b[i].
template <class Arch>
[[gnu::noinline]] void dot_rows(const matrix_view<const element_of<Arch>>& a,
                                const matrix_view<const element_of<Arch>>& b, std::size_t rows, std::size_t features,
                                element_of<Arch>* to) noexcept {
  for (std::size_t i = 0; i < rows; ++i) {
    floats<Arch> sum(0.0F);
    std::size_t c = 0;
    if (a.feature == 1 && b.feature == 1) {
      for (; c < features; c += lanes<Arch>) {
        const std::size_t count = min(features - c, lanes<Arch>);
        sum = count == lanes<Arch>
                  ? fma<Arch>(load<Arch>(a.at(i, c)), load<Arch>(b.at(i, c)), sum)
                  : fma<Arch>(load_partial<Arch>(a.at(i, c), count), load_partial<Arch>(b.at(i, c), count), sum);
      }
    }
    element_of<Arch> total = reduce_sum<Arch>(sum);
    for (; c < features; ++c) total += *a.at(i, c) * *b.at(i, c);
    to[i] = total;
  }
}

/// Copies whole registers, aligned.
template <class Arch>
[[gnu::noinline]] void copy_elements(const element_of<Arch>* from, std::size_t count, element_of<Arch>* to) noexcept {
  for (std::size_t i = 0; i < count; i += lanes<Arch>) store_aligned<Arch>(to + i, load_aligned<Arch>(from + i));
}

/// to += from, in whole registers.
template <class Arch>
[[gnu::noinline]] void add_elements(const element_of<Arch>* from, std::size_t count, element_of<Arch>* to) noexcept {
  for (std::size_t i = 0; i < count; i += lanes<Arch>)
    store_aligned<Arch>(to + i, load_aligned<Arch>(to + i) + load_aligned<Arch>(from + i));
}

/// Writes zeros in whole registers.
template <class Arch>
[[gnu::noinline]] void clear_elements(element_of<Arch>* to, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; i += lanes<Arch>) store_aligned<Arch>(to + i, floats<Arch>(0.0F));
}

/// Copies rows and pads the features with zeros to whole registers.
template <class Arch>
[[gnu::noinline]] void copy_padded(const matrix_view<const element_of<Arch>>& from, std::size_t rows,
                                   std::size_t features, element_of<Arch>* to) noexcept {
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t c = 0; c < features; c += lanes<Arch>, to += lanes<Arch>) {
      const std::size_t count = min(features - c, lanes<Arch>);
      if (from.feature == 1) {
        store_aligned<Arch>(
            to, count == lanes<Arch> ? load<Arch>(from.at(i, c)) : load_partial<Arch>(from.at(i, c), count));
      } else {
        for (std::size_t n = 0; n < lanes<Arch>; ++n) to[n] = n < count ? *from.at(i, c + n) : 0.0F;
      }
    }
  }
}

/// Writes rows of whole registers, times `factor`, to a gradient; adds them if `onto`.
template <class Arch>
[[gnu::noinline]] void write_rows(const element_of<Arch>* from, std::size_t rows, std::size_t features,
                                  element_of<Arch> factor, bool onto,
                                  const matrix_view<element_of<Arch>>& to) noexcept {
  if (to.data == nullptr) return;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t c = 0; c < features; c += lanes<Arch>, from += lanes<Arch>) {
      const std::size_t count = min(features - c, lanes<Arch>);
      floats<Arch> x = load_aligned<Arch>(from) * floats<Arch>(factor);
      if (to.feature == 1) {
        if (onto) x = x + load_partial<Arch>(to.at(i, c), count);
        store_partial<Arch>(to.at(i, c), count, x);
      } else {
        alignas(64) element_of<Arch> each[lanes<Arch>];
        store_aligned<Arch>(&each[0], x);
        for (std::size_t n = 0; n < count; ++n) *to.at(i, c + n) = onto ? *to.at(i, c + n) + each[n] : each[n];
      }
    }
  }
}

/// to[i, c] (+)= factor * strip[c, i].
template <class Arch>
[[gnu::noinline]] void write_strip(const element_of<Arch>* strip, std::size_t rows, std::size_t features,
                                   element_of<Arch> factor, bool onto,
                                   const matrix_view<element_of<Arch>>& to) noexcept {
  constexpr std::size_t n = lanes<Arch>;
  const floats<Arch> scale(factor);
  for (std::size_t i = 0; i < rows; i += n) {
    for (std::size_t c = 0; c < features; c += n) {
      const std::size_t wide = min(features - c, n);
      const std::size_t high = min(rows - i, n);
      square<Arch> corner;
      for (std::size_t r = 0; r < n; ++r) {
        corner[r] = r < wide ? scale * load_aligned<Arch>(strip + (c + r) * strip_width<Arch> + i) : floats<Arch>(0.0F);
      }
      transpose<Arch>(corner);
      const matrix_view<element_of<Arch>> place{to.at(i, c), to.row, to.feature};
      if (onto) {
        square<Arch> old;
        load_square<Arch>(old, {place.data, place.row, place.feature}, high, wide);
        for (std::size_t r = 0; r < n; ++r) corner[r] = corner[r] + old[r];
      }
      store_square<Arch>(corner, place, high, wide);
    }
  }
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION::detail
