// dimwise/kernels/map.hpp -- a function applied element by element to contiguous memory.
//
// Layer: kernels. Includes: simd.hpp and light standard headers only.
// Tests: tests/kernels/rows/forward.test.cpp
//
// The function takes and returns registers: those of math.hpp, the operators below, or a generic lambda. `out` may
// equal an input. Pointers need no alignment.
//
//   map_floats<Arch>(n, x, y, gelu_of{});
//   zip_floats<Arch>(n, x, bias, y, add_of{});  // y = x + bias
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/kernels/dispatch/configuration.hpp>
#include <dimwise/kernels/simd.hpp>

#include <cstddef>

namespace dimwise::kernels::inline DIMWISE_CONFIGURATION {

// A function object of two registers of the architecture Arch.
#define DIMWISE_DETAIL_FUNCTION(word, ...)                                                              \
  struct word##_of {                                                                                    \
    template <class Batch>                                                                              \
    [[nodiscard, gnu::always_inline]] Batch operator()(const Batch& a, const Batch& b) const noexcept { \
      using Arch [[maybe_unused]] = arch_of<Batch>;                                                     \
      return __VA_ARGS__;                                                                               \
    }                                                                                                   \
  };
/// `a + b`, `a - b`, `a * b`, `a / b`.
DIMWISE_DETAIL_FUNCTION(add, a + b)
DIMWISE_DETAIL_FUNCTION(subtract, a - b)
DIMWISE_DETAIL_FUNCTION(multiply, (a * b))
DIMWISE_DETAIL_FUNCTION(divide, a / b)
/// The maximum, the first of equal operands; NaN if either is NaN.
DIMWISE_DETAIL_FUNCTION(max, select<Arch>(is_nan<Arch>(b), b, select<Arch>(a < b, b, a)))
/// `a`, but -inf if `b` is -inf: masked elements stay masked.
DIMWISE_DETAIL_FUNCTION(hide, select<Arch>(b == broadcast<Arch>(-detail::infinity), b, a))
/// F of a gradient and a local derivative, but 0 if the gradient is 0: the derivative of a discarded element may be
/// infinite or NaN.
template <class F>
struct sent_of {
  template <class Batch>
  [[nodiscard, gnu::always_inline]] Batch operator()(const Batch& g, const Batch& x) const noexcept {
    using Arch = arch_of<Batch>;
    return select<Arch>(g == broadcast<Arch>(0.0F), g, F{}(g, x));
  }
};
/// The minimum, the first of equal operands; NaN if either is NaN.
DIMWISE_DETAIL_FUNCTION(min, select<Arch>(is_nan<Arch>(b), b, select<Arch>(b < a, b, a)))

#undef DIMWISE_DETAIL_FUNCTION

/// out[i] = f(in[i]).
template <class Arch = default_arch, class F>
void map_floats(std::size_t n, const element_of<Arch>* in, element_of<Arch>* out, const F& f) noexcept {
  std::size_t i = 0;
  for (; i + lanes<Arch> <= n; i += lanes<Arch>) store<Arch>(out + i, f(load<Arch>(in + i)));
  if (i < n) store_partial<Arch>(out + i, n - i, f(load_partial<Arch>(in + i, n - i)));
}

/// out[i] = f(a[i], b[i]).
template <class Arch = default_arch, class F>
void zip_floats(std::size_t n, const element_of<Arch>* a, const element_of<Arch>* b, element_of<Arch>* out,
                const F& f) noexcept {
  std::size_t i = 0;
  for (; i + lanes<Arch> <= n; i += lanes<Arch>) { store<Arch>(out + i, f(load<Arch>(a + i), load<Arch>(b + i))); }
  if (i < n) {
    store_partial<Arch>(out + i, n - i, f(load_partial<Arch>(a + i, n - i), load_partial<Arch>(b + i, n - i)));
  }
}

/// out[i] = f(a[i], number).
template <class Arch = default_arch, class F>
void zip_number(std::size_t n, const element_of<Arch>* a, element_of<Arch> number, element_of<Arch>* out,
                const F& f) noexcept {
  const floats<Arch> same = broadcast<Arch>(number);
  map_floats<Arch>(n, a, out, [&](const floats<Arch>& x) __attribute__((always_inline)) { return f(x, same); });
}

namespace detail {

// Booleans are converted between bytes and registers in blocks of this size.
inline constexpr std::size_t block_bools = 64;

// Loads a register, or broadcasts one number: the step from lane to lane is 1 or 0 elements.
template <class Arch>
[[nodiscard, gnu::always_inline]] inline floats<Arch> load_step(const element_of<Arch>* from, std::ptrdiff_t step,
                                                                std::size_t count) noexcept {
  if (step == 0) return broadcast<Arch>(*from);
  return count == lanes<Arch> ? load<Arch>(from) : load_partial<Arch>(from, count);
}

}  // namespace detail

/// out[i] = f(a[i], b[i]) != Negated, for a comparison f; the step of an operand is 0 for a single number, otherwise 1.
template <class Arch = default_arch, bool Negated = false, class F>
void compare_floats(std::size_t n, const element_of<Arch>* a, std::ptrdiff_t a_step, const element_of<Arch>* b,
                    std::ptrdiff_t b_step, bool* out, const F& f) noexcept {
  using detail::block_bools;
  alignas(64) integer_of<Arch> truth[block_bools];
  for (std::size_t first = 0; first < n; first += block_bools) {
    const std::size_t here = n - first < block_bools ? n - first : block_bools;
    for (std::size_t i = 0; i < here; i += lanes<Arch>) {
      const std::size_t count = here - i < lanes<Arch> ? here - i : lanes<Arch>;
      const auto at = static_cast<std::ptrdiff_t>(first + i);
      const mask<Arch> holds = f(detail::load_step<Arch>(a + at * a_step, a_step, count),
                                 detail::load_step<Arch>(b + at * b_step, b_step, count));
      as_ints<Arch>(select<Arch>(holds, broadcast<Arch>(1.0F), broadcast<Arch>(0.0F))).store_aligned(&truth[i]);
    }
    bool* const to = out + first;
    if (here == block_bools) {
      for (std::size_t i = 0; i < block_bools; ++i) to[i] = (truth[i] != 0) != Negated;
    } else {
      for (std::size_t i = 0; i < here; ++i) to[i] = (truth[i] != 0) != Negated;
    }
  }
}

/// out[i] = m[i] ? a[i] : b[i]; `m` has any step, `a` and `b` 0 or 1. The unselected operand has no effect.
template <class Arch = default_arch>
void choose_floats(std::size_t n, const bool* m, std::ptrdiff_t m_step, const element_of<Arch>* a,
                   std::ptrdiff_t a_step, const element_of<Arch>* b, std::ptrdiff_t b_step,
                   element_of<Arch>* out) noexcept {
  using detail::block_bools;
  alignas(64) integer_of<Arch> truth[block_bools];
  for (std::size_t first = 0; first < n; first += block_bools) {
    const std::size_t here = n - first < block_bools ? n - first : block_bools;
    const bool* const from = m + static_cast<std::ptrdiff_t>(first) * m_step;
    if (m_step == 1 && here == block_bools) {
      for (std::size_t i = 0; i < block_bools; ++i) truth[i] = from[i];
    } else {
      for (std::size_t i = 0; i < block_bools; ++i)
        truth[i] = i < here ? from[static_cast<std::ptrdiff_t>(i) * m_step] : 0;
    }
    for (std::size_t i = 0; i < here; i += lanes<Arch>) {
      const std::size_t count = here - i < lanes<Arch> ? here - i : lanes<Arch>;
      const auto at = static_cast<std::ptrdiff_t>(first + i);
      const mask<Arch> second = as_mask<Arch>(ints<Arch>::load_aligned(&truth[i]) == ints<Arch>(0));
      const floats<Arch> x = detail::load_step<Arch>(a + at * a_step, a_step, count);
      const floats<Arch> y = detail::load_step<Arch>(b + at * b_step, b_step, count);
      const floats<Arch> chosen = select<Arch>(second, y, x);
      if (count == lanes<Arch>) store<Arch>(out + at, chosen);
      else store_partial<Arch>(out + at, count, chosen);
    }
  }
}

}  // namespace dimwise::kernels::inline DIMWISE_CONFIGURATION
