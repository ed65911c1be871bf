// SPDX-License-Identifier: BSL-1.0
// dimwise/support/element.hpp -- what a type of elements is: the one place that rules, evaluation and printing look at.
//
// Layer: support. A new element type joins by a specialisation of `element_kind_of`; nothing else tests for float.
// Tests: tests/tensor/element.test.cpp
#pragma once

#include <dimwise/support/number_format.hpp>

#include <type_traits>

namespace dimwise {

/// What elements are good for.
enum class element_kind : unsigned char {
  other,   ///< ids and whatever a user stores: named, ordered, cut and joined
  truth,   ///< bool: masks once their polarity is known
  whole,   ///< whole numbers: added, multiplied, compared, summed
  real,    ///< real numbers: all arithmetic
  stored,  ///< few bits that are widened before anything computes with them
};

/// The kind of T.
template <class T>
inline constexpr element_kind element_kind_of = std::is_same_v<T, bool>       ? element_kind::truth
                                                : std::is_integral_v<T>       ? element_kind::whole
                                                : std::is_floating_point_v<T> ? element_kind::real
                                                                              : element_kind::other;
template <>
inline constexpr element_kind element_kind_of<bfloat16> = element_kind::stored;
template <>
inline constexpr element_kind element_kind_of<float16> = element_kind::stored;
template <>
inline constexpr element_kind element_kind_of<int4_pair> = element_kind::stored;

/// Elements of type T whose origin is recorded, so that a loss can be differentiated (grad/tracked.hpp defines it). A
/// node with such an operand has such elements, so tracking goes through the language as a type.
template <class T>
struct tracked;
template <class T>
inline constexpr element_kind element_kind_of<tracked<T>> = element_kind_of<T>;

namespace detail {

template <class T>
inline constexpr bool is_tracked_type = false;
template <class T>
inline constexpr bool is_tracked_type<tracked<T>> = true;
template <class T>
struct untracked {
  using type = T;
};
template <class T>
struct untracked<tracked<T>> {
  using type = T;
};
// The elements in memory.
template <class T>
using untracked_t = typename untracked<T>::type;

}  // namespace detail

/// Elements that are real numbers, whole numbers, or stored in 16 bits or fewer.
template <class T>
concept real_element = element_kind_of<std::remove_cv_t<T>> == element_kind::real;
template <class T>
concept whole_element = element_kind_of<std::remove_cv_t<T>> == element_kind::whole;
template <class T>
concept stored_element = element_kind_of<std::remove_cv_t<T>> == element_kind::stored;

}  // namespace dimwise

// What has one tracked operand is tracked.
template <class T, class U>
struct std::common_type<dimwise::tracked<T>, dimwise::tracked<U>> {
  using type = dimwise::tracked<std::common_type_t<T, U>>;
};
template <class T, class U>
  requires std::is_arithmetic_v<U>
struct std::common_type<dimwise::tracked<T>, U> {
  using type = dimwise::tracked<std::common_type_t<T, U>>;
};
template <class T, class U>
  requires std::is_arithmetic_v<T>
struct std::common_type<T, dimwise::tracked<U>> {
  using type = dimwise::tracked<std::common_type_t<T, U>>;
};
