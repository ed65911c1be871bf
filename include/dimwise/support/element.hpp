// SPDX-License-Identifier: BSL-1.0
// dimwise/support/element.hpp -- the kinds of element types, which rules, evaluation and printing query.
//
// Layer: support. Specialise `element_kind_of` to add an element type; no other code tests for float.
// Tests: tests/tensor/element.test.cpp
#pragma once

#include <dimwise/support/number_format.hpp>

#include <type_traits>

namespace dimwise {

/// The operations that element types support.
enum class element_kind : unsigned char {
  other,   ///< ids and user types: rename, permute, slice and concat only
  truth,   ///< bool: masks once their polarity is known
  whole,   ///< integers: sums, products, comparisons, reductions
  real,    ///< floating-point numbers: all arithmetic
  stored,  ///< low precision: widened before any arithmetic
};

/// The element kind of T.
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

/// The element type of tracked operands of type T, which the backward pass differentiates (defined in
/// grad/tracked.hpp).
/// A node with a tracked operand is tracked, so that tracking is part of the types.
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
// The element type in memory.
template <class T>
using untracked_t = typename untracked<T>::type;

}  // namespace detail

/// Floating-point and integer element types, and those stored in 16 bits or fewer.
template <class T>
concept real_element = element_kind_of<std::remove_cv_t<T>> == element_kind::real;
template <class T>
concept whole_element = element_kind_of<std::remove_cv_t<T>> == element_kind::whole;
template <class T>
concept stored_element = element_kind_of<std::remove_cv_t<T>> == element_kind::stored;

}  // namespace dimwise

// An operation with one tracked operand is tracked.
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
