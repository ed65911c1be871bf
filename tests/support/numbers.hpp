// tests/support/numbers.hpp -- numbers to test with, and comparison with loops that the test itself writes.
//
// For tests only. Everything here reads tensors through their memory (`values`, `extent_of`), never through the
// evaluator.
//
//   const auto x = drawn<tensor<float, seq, d_k>>(1, seq{5});             // the same numbers on every machine
//   CHECK(agrees(x + x, {5, 4}, 1, [&](auto s, auto d) { return 2.0 * el(x, s, d); }) == "");
//   CHECK(thrown<extent_error>([&] { (void)(x + y); }) == "+: dimension seq has …");
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <dimwise/dimwise.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace dimwise_test {

inline constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
inline constexpr float infinite = std::numeric_limits<float>::infinity();

/// Extents to try.
using counts = std::initializer_list<std::size_t>;

/// The i-th number of a sequence: a multiple of 2^-20 in [-1, 1), which float holds exactly (splitmix64).
[[nodiscard]] inline double drawn_number(std::size_t i, unsigned seed) {
  std::uint64_t z = (static_cast<std::uint64_t>(i) + 1) * 0x9E3779B97F4A7C15U + seed * 0xD1B54A32D192ED03U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  z ^= z >> 31;
  return static_cast<double>(static_cast<std::int64_t>(z % (1U << 21U)) - (1 << 20)) / (1 << 20);
}

template <class T>
[[nodiscard]] T number_as(std::size_t i, unsigned seed) {
  if constexpr (std::is_same_v<T, bool>) {
    return drawn_number(i, seed) > 0;
  } else {
    return static_cast<T>(static_cast<float>(drawn_number(i, seed)));  // exact, and all that 16 bits are made from
  }
}

/// A tensor of such numbers; of bool, half of them true.
template <class Tensor, class... Extents>
[[nodiscard]] Tensor drawn(unsigned seed, const Extents&... extents) {
  using T = typename Tensor::value_type;
  Tensor x(extents...);
  const auto elements = std::make_unique<T[]>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) { elements[i] = number_as<T>(i, seed); }
  x.assign({elements.get(), x.size()});
  return x;
}

/// A tensor of ids of D below `bound`.
template <class Tensor, class... Extents>
[[nodiscard]] Tensor drawn_ids(unsigned seed, std::size_t bound, const Extents&... extents) {
  using T = typename Tensor::value_type;
  Tensor x(extents...);
  std::vector<T> elements;
  for (std::size_t i = 0; i < x.size(); ++i) {
    elements.push_back(T(static_cast<std::size_t>((drawn_number(i, seed) + 1) / 2 * static_cast<double>(bound))));
  }
  x.assign(elements);
  return x;
}

template <class... T>
struct types {};
template <class... Dims>
struct dims_of;
template <class... Done>
struct dims_of<types<Done...>> {
  static constexpr std::size_t count = sizeof...(Done);
  template <class X>
  static std::array<std::size_t, count> extents(const X& x) {
    (void)x;
    return {dimwise::extent_of<Done>(x)...};
  }
};
template <class... Done, class D, class... Rest>
struct dims_of<types<Done...>, D, Rest...>
    : std::conditional_t<dimwise::dimension_type<D>, dims_of<types<Done..., D>, Rest...>, dims_of<types<Done...>>> {};

/// The extents of a tensor or view in memory order, a composite as one.
template <class... D, template <class, class...> class X, class T>
[[nodiscard]] auto extents_of(const X<T, D...>& x) {
  return dims_of<types<>, D...>::extents(x);
}

/// An element by its place in memory order: rows last, as the type says.
template <class T, class... D, class... I>
[[nodiscard]] T el(const dimwise::tensor<T, D...>& x, I... i) {
  const auto extents = extents_of(x);
  static_assert(sizeof...(I) == std::tuple_size_v<decltype(extents_of(x))>);
  const std::array<std::size_t, sizeof...(I)> place{static_cast<std::size_t>(i)...};
  std::size_t at = 0;
  for (std::size_t k = 0; k < sizeof...(I); ++k) { at = at * extents[k] + place[k]; }
  return x.values()[at];
}

/// Float32 results: each of `roundings` operations errs by at most 2^-24 of a magnitude that the tests keep near 1.
[[nodiscard]] inline double float32(double roundings) { return roundings * std::ldexp(1.0, -24); }
/// Float64 results: a few thousand roundings of 2^-53.
inline constexpr double float64 = 1e-12;

/// Σ of f(i) for i < n, in double.
template <class F>
[[nodiscard]] double sum_of(std::size_t n, F f) {
  double total = 0;
  for (std::size_t i = 0; i < n; ++i) { total += f(i); }
  return total;
}

inline bool within(double value, double expected, double tolerance) {
  if (std::isnan(expected) || std::isnan(value)) { return std::isnan(expected) && std::isnan(value); }
  return value == expected || std::abs(value - expected) <= tolerance * (1 + std::abs(expected));
}

namespace detail {
template <class F, std::size_t... K>
auto call(F& f, const std::size_t* place, std::index_sequence<K...>) {
  (void)place;
  return f(place[K]...);
}
template <class T>
double as_number(T x) {
  if constexpr (requires { x.value; }) {
    return static_cast<double>(x.value);
  } else {
    return static_cast<double>(x);
  }
}
}  // namespace detail

/// Where `y` differs from `expected(i, j, …)`, in words; empty where it does not.
template <class T, class... D, class F>
[[nodiscard]] std::string differences(const dimwise::tensor<T, D...>& y,
                                      std::array<std::size_t, dims_of<types<>, D...>::count> extents, double tolerance,
                                      F expected) {
  constexpr std::size_t rank = dims_of<types<>, D...>::count;
  std::ostringstream text;
  text.precision(17);
  if (extents_of(y) != extents) {
    text << "extents are";
    for (const std::size_t n : extents_of(y)) { text << ' ' << n; }
    return text.str();
  }
  std::array<std::size_t, rank> place{};
  for (std::size_t i = 0; i < y.size(); ++i) {
    for (std::size_t k = rank, rest = i; k-- > 0; rest /= extents[k]) { place[k] = rest % extents[k]; }
    const double value = detail::as_number(y.values()[i]);
    const double wanted = detail::as_number(detail::call(expected, place.data(), std::make_index_sequence<rank>()));
    if (!within(value, wanted, tolerance)) {
      text << "at";
      for (const std::size_t p : place) { text << ' ' << p; }
      text << ": " << value << ", expected " << wanted << ", sizeof " << sizeof(T);
      return text.str();
    }
  }
  return {};
}

/// The same for an expression: in float32 after so many roundings, by its plan and by the scalar path, and in
/// float64 where it is real.
template <class E, std::size_t Rank, class F>
[[nodiscard]] std::string agrees(const E& e, const std::size_t (&extents)[Rank], double roundings, F expected) {
  const auto wanted = std::to_array(extents);
  std::string wrong = differences(dimwise::evaluate(e), wanted, float32(roundings), expected);
  if (wrong.empty()) { wrong = differences(dimwise::evaluate_plainly(e), wanted, float32(roundings), expected); }
  if constexpr (std::is_floating_point_v<typename E::value_type>) {
    if (wrong.empty()) { wrong = differences(dimwise::reference(e), wanted, float64, expected); }
  }
  return wrong;
}

/// Where two tensors of one type differ; empty where they do not.
template <class T, class... D>
[[nodiscard]] std::string differ(const dimwise::tensor<T, D...>& a, const dimwise::tensor<T, D...>& b,
                                 double tolerance = 0) {
  return differences(a, extents_of(b), tolerance, [&](auto... at) { return el(b, at...); });
}

/// The same for expressions, as tensors of a type.
template <class Tensor>
[[nodiscard]] std::string differ(const std::type_identity_t<Tensor>& a, const std::type_identity_t<Tensor>& b,
                                 double tolerance = 0) {
  return differ(a, b, tolerance);
}

/// The elements of a tensor far apart and backwards in memory, NaN between them: nothing else may be read.
template <class T, class... D>
class scattered {
 public:
  explicit scattered(const dimwise::tensor<T, D...>& x)
      : extents_(extents_of(x)), memory_(std::make_unique<T[]>(3 * x.size() + 1)) {
    std::fill_n(memory_.get(), 3 * x.size() + 1, not_read());
    std::ptrdiff_t step = 3;
    for (std::size_t k = 0; k < sizeof...(D); ++k) {  // the first dimension is the innermost
      strides_.at[k] = k == 0 ? -step : step;
      step *= static_cast<std::ptrdiff_t>(extents_[k]);
    }
    start_ = x.size() == 0 ? 0 : 3 * (extents_[0] - 1);
    for (std::size_t i = 0; i < x.size(); ++i) {
      std::ptrdiff_t at = static_cast<std::ptrdiff_t>(start_);
      for (std::size_t k = sizeof...(D), rest = i; k-- > 0; rest /= extents_[k]) {
        at += static_cast<std::ptrdiff_t>(rest % extents_[k]) * strides_.at[k];
      }
      memory_[static_cast<std::size_t>(at)] = x.values()[i];
    }
  }
  [[nodiscard]] dimwise::tensor_view<const T, D...> view() const { return make(std::index_sequence_for<D...>()); }

 private:
  template <std::size_t... K>
  dimwise::tensor_view<const T, D...> make(std::index_sequence<K...>) const {
    return dimwise::tensor_view<const T, D...>(static_cast<const T*>(memory_.get()) + start_, strides_,
                                               D{extents_[K]}...);
  }
  static T not_read() {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(not_a_number);
    } else {
      return T{};
    }
  }
  std::array<std::size_t, sizeof...(D)> extents_;
  std::unique_ptr<T[]> memory_;
  dimwise::strides<sizeof...(D)> strides_;
  std::size_t start_ = 0;
};

/// What `f` throws says; what happened instead, where it throws no Error.
template <class Error, class F>
[[nodiscard]] std::string thrown(F&& f) {
  try {
    std::forward<F>(f)();
  } catch (const Error& e) { return e.what(); } catch (const std::exception& e) {
    return std::string("another error: ") + e.what();
  }
  return "nothing was thrown";
}

}  // namespace dimwise_test
