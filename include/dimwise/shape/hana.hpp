// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/hana.hpp -- shapes as Boost.Hana values for users' metaprograms.
//
// Layer: shape. The rules themselves use packs: Hana's sets cost forty times as much to compile.
// Tests: tests/shape/hana.test.cpp
//
//   hana::for_each(dims_of(x), [](auto d) { using D = typename decltype(d)::type; … });
#pragma once

#include <dimwise/shape/concepts.hpp>

#include <boost/hana/tuple.hpp>
#include <boost/hana/type.hpp>

namespace dimwise {

namespace detail {

template <class... T>
constexpr auto as_hana(list<T...>) {
  return boost::hana::make_tuple(boost::hana::type_c<T>...);
}

}  // namespace detail

/// The dimensions of `x` in memory order, as a `hana::tuple` of `hana::type_c<D>`.
template <shaped T>
[[nodiscard]] constexpr auto dims_of(const T&) {
  return detail::as_hana(detail::dims_t<typename T::shape_type>{});
}
template <class... D>
[[nodiscard]] constexpr auto dims_of(boost::hana::basic_type<shape<D...>>) {
  return detail::as_hana(detail::dims_t<shape<D...>>{});
}

/// The marks of `x` in canonical order, as a `hana::tuple` of `hana::type_c<Mark>`.
template <shaped T>
[[nodiscard]] constexpr auto marks_of(const T&) {
  return detail::as_hana(detail::marks_t<typename T::shape_type>{});
}
template <class... D>
[[nodiscard]] constexpr auto marks_of(boost::hana::basic_type<shape<D...>>) {
  return detail::as_hana(detail::marks_t<shape<D...>>{});
}

}  // namespace dimwise
