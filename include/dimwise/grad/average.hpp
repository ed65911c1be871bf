// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/average.hpp -- a mean that is not divided yet: its sum, and what it is divided by.
//
// Layer: grad. Averages add, so the mean over several batches is the mean over all their elements, and not the mean of
// their means.
// Tests: tests/grad/training/loss.test.cpp
//
//   average loss = cross_entropy<vocab>(logits, next);        // average<float, batch, seq>
//   float value = loss.value();
#pragma once

#include <dimwise/grad/tracked.hpp>
#include <dimwise/shape/rules/placed.hpp>

namespace dimwise {

namespace detail {

// A sum rounded to T, and what that rounding has taken from it.
template <class T>
struct sum_and_rest {
  T sum;
  double rest;
};
// a + b + rest, where the rest is less than their last digits (Knuth's two-sum). Sums that are not finite lose nothing.
template <class T>
sum_and_rest<T> added(T a, T b, double rest) {
  const T near = a + b;
  const T of_b = near - a;
  rest += static_cast<double>((a - (near - of_b)) + (b - of_b));
  if (rest - rest != 0) { return {near, 0}; }
  const T sum = near + static_cast<T>(rest);
  rest -= static_cast<double>(sum - near);
  return {sum, rest - rest != 0 ? 0 : rest};
}

// A sum over dimensions: a term of one where some of them are shards.
template <class Dims>
using sum_shape_t = make_shape_t<list<>, typename partial_marks<unique_t<mesh_axes_of_list_t<Dims>>>::type>;

}  // namespace detail

/// The sum of a loss over the dimensions D, and how many elements were summed: with class weights the sum of the
/// targets' weights. T is tracked while a gradient is computed.
///
/// Over a shard both are this rank's terms: `all_reduce<M>(average, mesh)` is the average over all ranks, and `mean()`
/// and `value()` are rejected before (R24).
template <class T, class... D>
struct average {
  using sum_type = detail::tensor_of<T, detail::sum_shape_t<detail::list<D...>>>;
  /// Whether each rank has a part of the elements.
  static constexpr bool is_partial = !std::is_same_v<sum_type, tensor<T>>;

  sum_type sum{};
  double count = 0;
  double lost = 0;  ///< what the roundings of `+=` have taken from `sum`: less than the last digit of it

  /// sum / count, a number as an expression; 0 where nothing counted.
  [[nodiscard]] auto mean() const
    requires(!is_partial)
  {
    return sum * factor();
  }
  /// The factor of the sum: 1 / count; 0 if nothing counted.
  [[nodiscard]] double factor() const { return count == 0 ? 0.0 : 1.0 / count; }
  /// The mean's value.
  [[nodiscard]] detail::untracked_t<T> value() const
    requires(!is_partial)
  {
    return tensor(detail::untracked_of(mean()));
  }
  template <class Error = ERROR_R24_mean_over_a_shard_divides_by_the_whole_extent<op::mean, over<D...>>>
    requires(is_partial)
  Error mean() const;
  template <class Error = ERROR_R24_mean_over_a_shard_divides_by_the_whole_extent<op::mean, over<D...>>>
    requires(is_partial)
  Error value() const;

  // An average is not a number: `mean()` and `value()` are.
  template <class U, class... E, class Error = ERROR_R22_average_becomes_a_number_by_mean_or_value<over<D...>>>
  operator tensor<U, E...>() const DIMWISE_DETAIL_REFUSED(Error);
  template <detail::one_value Number, class Error = ERROR_R22_average_becomes_a_number_by_mean_or_value<over<D...>>>
  operator Number() const DIMWISE_DETAIL_REFUSED(Error);

  /// The average over the elements of both.
  template <class... E>
    requires(detail::same_set<detail::list<D...>, detail::list<E...>>)
  average& operator+=(const average<T, E...>& other) {
    if constexpr (std::is_floating_point_v<T>) {
      const detail::sum_and_rest<T> all = detail::added(*sum.data(), *other.sum.data(), lost + other.lost);
      sum.fill(all.sum);
      lost = all.rest;
    } else {
      sum = sum_type(sum + other.sum);
    }
    count += other.count;
    return *this;
  }
  template <class... E>
    requires(detail::same_set<detail::list<D...>, detail::list<E...>>)
  [[nodiscard]] friend average operator+(average a, const average<T, E...>& b) {
    a += b;
    return a;
  }

  /// The same average of a multiple of the loss: its mean is multiplied.
  [[nodiscard]] friend average operator-(const average& a) { return -1 * a; }
  template <class Number>
    requires std::is_arithmetic_v<Number>
  [[nodiscard]] friend average operator*(Number by, const average& a) {
    return {sum_type(a.sum * static_cast<detail::untracked_t<T>>(by)), a.count, a.lost * static_cast<double>(by)};
  }
  template <class Number>
    requires std::is_arithmetic_v<Number>
  [[nodiscard]] friend average operator*(const average& a, Number by) {
    return by * a;
  }
  template <class Number>
    requires std::is_arithmetic_v<Number>
  [[nodiscard]] friend average operator/(const average& a, Number by) {
    return a * (detail::untracked_t<T>(1) / static_cast<detail::untracked_t<T>>(by));
  }
};

/// `tensor loss = cross_entropy<…>(…);` deduces `tensor<T>`, which rejects the average (R22): `mean()` is the tensor.
template <class T, class... D>
tensor(const average<T, D...>&) -> tensor<T>;

namespace detail {

template <class X>
inline constexpr bool is_average = false;
template <class T, class... D>
inline constexpr bool is_average<average<T, D...>> = true;

// An average is added to an average over the same dimensions; to other operands its mean is added.
template <class X>
struct averaged_dims {
  using type = list<>;
};
template <class T, class... D>
struct averaged_dims<average<T, D...>> {
  using type = list<D...>;
};
template <class X>
concept beside_an_average = is_average<X> || operand<X> || std::is_arithmetic_v<X>;
template <class A, class B>
concept has_an_average = (is_average<A> || is_average<B>) && beside_an_average<A> && beside_an_average<B>;
template <class A, class B>
concept same_averages =
    is_average<A> && is_average<B> && same_set<typename averaged_dims<A>::type, typename averaged_dims<B>::type>;
template <class A, class B>
using added_average = ERROR_R22_mean_of_an_average_is_added<
    op::elementwise, over_t<union_t<typename averaged_dims<A>::type, typename averaged_dims<B>::type>>>;

template <class A, class B>
using average_as_a_number = ERROR_R22_average_becomes_a_number_by_mean_or_value<
    over_t<union_t<typename averaged_dims<A>::type, typename averaged_dims<B>::type>>>;

template <class T, class Shape>
struct average_over;
template <class T, class... D>
struct average_over<T, shape<D...>> {
  using type = average<T, D...>;
};

}  // namespace detail

/// An average is printed by its value (R22).
template <class Stream, class T, class... D,
          class Error = ERROR_R22_average_becomes_a_number_by_mean_or_value<over<D...>>>
  requires requires(Stream& to) { to.rdbuf(); }
Error operator<<(Stream& to, const average<T, D...>& a);
/// Only averages over the same dimensions are added (R22).
template <class T, class... D, class B, class Error = detail::added_average<average<T, D...>, B>>
  requires(detail::has_an_average<average<T, D...>, B> && !detail::same_averages<average<T, D...>, B>)
Error operator+=(average<T, D...>& a, const B& b);
/// An average and what is not one over the same dimensions: the mean of each is added (R22).
template <class A, class B>
  requires(detail::has_an_average<A, B> && !detail::same_averages<A, B>)
auto operator+(const A& a, const B& b) -> detail::added_average<A, B>;
/// Averages are not subtracted: their means are (R22).
template <class A, class B>
  requires detail::has_an_average<A, B>
auto operator-(const A& a, const B& b) -> detail::added_average<A, B>;
// A product with a number, and a quotient by one, are averages.
#define DIMWISE_DETAIL_OF_AN_AVERAGE(symbol, refused_beside) \
  template <class A, class B>                                \
    requires(detail::has_an_average<A, B> && refused_beside) \
  auto operator symbol(const A& a, const B& b)->detail::average_as_a_number<A, B>;
/// An average is compared by its `value()`; beside a tensor its `mean()` is multiplied and divided (R22).
DIMWISE_DETAIL_OF_AN_AVERAGE(*, (!std::is_arithmetic_v<A> && !std::is_arithmetic_v<B>))
DIMWISE_DETAIL_OF_AN_AVERAGE(/, !std::is_arithmetic_v<B>)
DIMWISE_DETAIL_OF_AN_AVERAGE(<, true)
DIMWISE_DETAIL_OF_AN_AVERAGE(<=, true)
DIMWISE_DETAIL_OF_AN_AVERAGE(>, true)
DIMWISE_DETAIL_OF_AN_AVERAGE(>=, true)
DIMWISE_DETAIL_OF_AN_AVERAGE(==, true)
DIMWISE_DETAIL_OF_AN_AVERAGE(!=, true)
#undef DIMWISE_DETAIL_OF_AN_AVERAGE
/// A sum of numbers takes an average by its `value()` (R22).
template <class Number, class T, class... D>
  requires std::is_arithmetic_v<Number>
auto operator+=(Number& to, const average<T, D...>& a)
    -> ERROR_R22_average_becomes_a_number_by_mean_or_value<over<D...>>;

}  // namespace dimwise
