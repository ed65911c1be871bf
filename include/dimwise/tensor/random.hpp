// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/random.hpp -- tensors of reproducible random numbers.
//
// Layer: tensor.
// Tests: tests/tensor/random.test.cpp
//
//   auto x = random_normal<float, seq, d_k>(random_seed{1}, seq{5});
#pragma once

#include <dimwise/support/library.hpp>
#include <dimwise/support/math.hpp>
#include <dimwise/tensor/tensor.hpp>

#include <array>
#include <cstdint>
#include <numbers>

namespace dimwise {

/// A seed: equal seeds give equal numbers.
struct random_seed {
  std::uint64_t value = 0;
};

namespace detail {

// A random number generator. Uniform numbers are identical on every machine: only the engine is from the standard
// library. Normal numbers use the C library's logarithm and cosine, and may differ in the last digits.
//
// The engine is compiled in the library, because <random> is a tenth of the compile time of dimwise.hpp. It makes many
// numbers at a time.
class random_numbers {
 public:
  DIMWISE_DETAIL_LIBRARY explicit random_numbers(std::uint64_t seed);
  DIMWISE_DETAIL_LIBRARY random_numbers(const random_numbers& from);
  DIMWISE_DETAIL_LIBRARY random_numbers& operator=(const random_numbers& from);
  DIMWISE_DETAIL_LIBRARY ~random_numbers();

  /// A uniform number in [0, 1).
  [[nodiscard]] double uniform() {
    if (at_ == many) { refill(); }
    return static_cast<double>(made_[at_++] >> 11U) * 0x1p-53;
  }
  /// A normal number with mean 0 and standard deviation 1 (Box and Muller 1958).
  [[nodiscard]] double normal() {
    const double u = 1 - uniform();
    return math::sqrt(-2 * math::log(u)) * math::cos(2 * std::numbers::pi * uniform());
  }

 private:
  DIMWISE_DETAIL_LIBRARY void refill();

  static constexpr std::size_t many = 64;
  struct engine;
  engine* engine_;
  std::size_t at_ = many;
  std::array<std::uint64_t, many> made_{};
};

template <class Tensor, class Draw, class... Extents>
Tensor drawn(Draw draw, const Extents&... given) {
  Tensor y(given...);
  auto* const to = y.overwrite();
  const std::size_t n = y.size();
  for (std::size_t i = 0; i < n; ++i) { to[i] = static_cast<typename Tensor::value_type>(draw()); }
  return y;
}

template <class T, class Shape, class... Extents>
inline constexpr bool draws = real_element<T> && gives_extents<Shape, Extents...>;
// Real numbers of which not every run-time extent is given, or one is given as a number.
template <class T, class Shape, class... Given>
inline constexpr bool lacks_extents =
    real_element<T> && !gives_extents<Shape, Given...> && ((dimension_type<Given> || number<Given>) && ...);
template <class Op, class Needed, class... Given>
struct draw_error_of;
template <class Op, class... Needed, class... Given>
struct draw_error_of<Op, list<Needed...>, Given...> {
  using type = ERROR_R15_run_time_extents_are_given_once<Op, over<about_t<Needed>...>, over<Given...>>;
};
template <class Op, class Shape, class... Given>
using draw_error = typename draw_error_of<Op, run_time_atoms_t<Shape>, Given...>::type;

}  // namespace detail

namespace no_adl {

/// A tensor of uniform numbers in [0, 1), identical on every machine: `random_uniform<float, seq>(random_seed{1},
/// seq{5}) * 2 - 1`.
template <class T, class... D, class... Extents>
  requires(valid_shape<D...> && detail::draws<T, shape<D...>, Extents...>)
[[nodiscard]] tensor<T, D...> random_uniform(random_seed s, const Extents&... extents) {
  return detail::drawn<tensor<T, D...>>(
      [numbers = detail::random_numbers(s.value)]() mutable { return numbers.uniform(); }, extents...);
}
/// A tensor of normal numbers with mean 0 and standard deviation 1; the last digits may differ between machines.
template <class T, class... D, class... Extents>
  requires(valid_shape<D...> && detail::draws<T, shape<D...>, Extents...>)
[[nodiscard]] tensor<T, D...> random_normal(random_seed s, const Extents&... extents) {
  return detail::drawn<tensor<T, D...>>(
      [numbers = detail::random_numbers(s.value)]() mutable { return numbers.normal(); }, extents...);
}
template <class T, class... D, class... Given,
          class Error = detail::draw_error<op::random_uniform, shape<D...>, Given...>>
  requires(valid_shape<D...> && detail::lacks_extents<T, shape<D...>, Given...>)
Error random_uniform(random_seed s, const Given&... given);
template <class T, class... D, class... Given,
          class Error = detail::draw_error<op::random_normal, shape<D...>, Given...>>
  requires(valid_shape<D...> && detail::lacks_extents<T, shape<D...>, Given...>)
Error random_normal(random_seed s, const Given&... given);
DIMWISE_DETAIL_MISUSED(random_uniform)
DIMWISE_DETAIL_MISUSED(random_normal)

}  // namespace no_adl
}  // namespace dimwise

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/tensor/random_definitions.hpp>
#endif
