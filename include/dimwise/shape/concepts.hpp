// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/concepts.hpp -- concepts for the parameters of functions: types with a shape, and with given
// dimensions.
//
// Layer: shape.
// Tests: tests/shape/must_compile.test.cpp
//
//   auto norm(const has_dims<seq, d_model> auto& x);
#pragma once

#include <dimwise/shape/shape.hpp>

#include <type_traits>

namespace dimwise {

/// A type with a shape: a tensor, a view, an expression.
template <class T>
concept shaped = requires { typename T::shape_type; };

namespace detail {

template <class Dims, class... D>
inline constexpr bool has_all_dims = same_set<Dims, list<D...>>;

}  // namespace detail

/// X has exactly the dimensions D, in any order and with any marks; for the parameters of functions.
template <class X, class... D>
concept has_dims = requires { typename std::remove_cvref_t<X>::shape_type; } &&
                   detail::has_all_dims<detail::dims_t<typename std::remove_cvref_t<X>::shape_type>, D...>;

}  // namespace dimwise
