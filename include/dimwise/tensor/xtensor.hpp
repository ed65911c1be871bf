// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/xtensor.hpp -- conversions to and from xtensor.
//
// Layer: tensor. Not part of dimwise/dimwise.hpp: xtensor's containers cost half a second to compile. Does not include
// xarray and xio: those of xtensor 0.24 do not compile with clang 19.
// Tests: tests/tensor/xtensor.test.cpp
//
//   auto x = from_xtensor<seq, d_model>(xt::xtensor<float, 2>{…});        // a copy, checked
//   auto v = view_xtensor<seq, d_model>(existing);                       // borrowed, with its strides
//   xt::xtensor<float, 2> y = to_xtensor(x);                             // a copy
//   auto z = adapt_xtensor(x);                                           // borrowed
#pragma once

#include <dimwise/tensor/view.hpp>

#include <xtensor/xadapt.hpp>
#include <xtensor/xtensor.hpp>

#include <algorithm>
#include <array>
#include <type_traits>

namespace dimwise {

namespace op {
struct from_xtensor;
struct view_xtensor;
}  // namespace op

namespace detail {

// The error of names that are no dimensions of a tensor: `from_xtensor<tensor<float, seq>>(a)`.
template <class Op, class T, class... D>
consteval auto judge_axes() {
  if constexpr (!(dimension_type<D> && ...)) {
    return answer<ERROR_R1_operation_names_its_dimension<Op>>{};
  } else {
    return answer<shape_error<T, D...>>{};
  }
}
template <class Op, class T, class... D>
using axes_error = typename decltype(judge_axes<Op, T, D...>())::type;

template <class... D>
struct xtensor_extents {
  using extents = extents_for<shape<D...>>;

  // Every dimension is one axis of xtensor, so the factors of a composite must be static.
  static_assert(((!is_composite<D> || D::static_extent != at_run_time) && ...),
                "dimwise: a composite from xtensor needs static factors");

  template <class Shape>
  static extents from(const Shape& given, const char* operation) {
    if (given.size() != sizeof...(D)) {
      raise<extent_error>(error{} << operation << ": " << given.size() << " dimensions were given for " << sizeof...(D)
                                  << " names (R15)");
    }
    extents e;
    std::size_t i = 0;
    (one<D>(e, static_cast<std::size_t>(given[i++]), operation), ...);
    e.check_divided();
    return e;
  }

 private:
  template <class X>
  static void one(extents& e, std::size_t n, const char* operation) {
    if constexpr (X::static_extent == at_run_time) {
      e.template of_atom<X>().extent = n;
    } else if (n != X::static_extent) {
      raise<extent_error>(error{} << operation << ": dimension " << dimension_name<X>() << " has extent "
                                  << X::static_extent << " and was given " << n << " (R15)");
    }
  }
};

template <class D, class Extents>
auto as_extent(const Extents& e) {
  return D{e.template of_atom<D>().extent};  // braces: an aggregate over its base
}

template <class T, class Extents, class... D, class Make>
auto with_extents(const Extents& e, list<D...>, Make make) {
  return make(as_extent<D>(e)...);
}

template <class... D>
std::array<std::size_t, sizeof...(D)> shape_array(const auto& e, list<D...>) {
  return {e.template extent<D>()...};
}

}  // namespace detail

/// A tensor over the dimensions D with a copy of the elements of an xtensor expression; D names its axes in order.
/// Throws `extent_error` if the number of axes or a static extent differs (R15).
template <class... D, class E>
  requires valid_shape<D...>
[[nodiscard]] auto from_xtensor(const xt::xexpression<E>& expression) {
  using T = std::remove_cv_t<typename E::value_type>;
  using result = tensor<T, D...>;
  const E& x = expression.derived_cast();
  auto y = result::for_overwriting(detail::xtensor_extents<D...>::from(x.shape(), "from_xtensor"));
  auto to =
      xt::adapt(y.overwrite(), y.size(), xt::no_ownership(), detail::shape_array(y.extents(), detail::list<D...>{}));
  to = x;
  return y;
}
template <class... D, class E,
          class Error = detail::axes_error<op::from_xtensor, std::remove_cv_t<typename E::value_type>, D...>>
  requires(!valid_shape<D...>)
Error from_xtensor(const xt::xexpression<E>& expression);

/// A view over the dimensions D of an xtensor container or strided view, which must outlive it. Rejects composites: one
/// stride does not determine how their factors are stored.
template <class... D, class E>
  requires(valid_shape<D...> && !(detail::is_merged<D> || ...))
[[nodiscard]] auto view_xtensor(E& x) {
  using T = std::remove_reference_t<decltype(*x.data())>;
  const auto e = detail::xtensor_extents<D...>::from(x.shape(), "view_xtensor");
  strides<sizeof...(D)> by{};
  for (std::size_t i = 0; i < sizeof...(D); ++i) { by.at[i] = static_cast<std::ptrdiff_t>(x.strides()[i]); }
  T* first = x.data() + x.data_offset();
  return detail::with_extents<T>(e, detail::atoms_t<D...>{},
                                 [&](const auto&... d) { return tensor_view<T, D...>(first, by, d...); });
}
template <class... D, class E,
          class Error = detail::axes_error<op::view_xtensor, std::remove_cv_t<typename E::value_type>, D...>>
  requires(!valid_shape<D...>)
Error view_xtensor(E& x);
template <class... D, class E>
void view_xtensor(const E&& temporary) = delete;

/// A copy as an `xt::xtensor` with one axis per dimension.
template <class T, class... D>
[[nodiscard]] auto to_xtensor(const tensor<T, D...>& x) {
  using dims = detail::dims_t<shape<D...>>;
  xt::xtensor<T, dims::size> y(detail::shape_array(x.extents(), dims{}));
  std::copy(x.values().begin(), x.values().end(), y.data());
  return y;
}

/// An xtensor adaptor over the tensor's memory, without a copy. The tensor must outlive it; rejects temporaries (R3).
template <class T, class... D>
[[nodiscard]] auto adapt_xtensor(const tensor<T, D...>& x) {
  using dims = detail::dims_t<shape<D...>>;
  return xt::adapt(x.data(), x.size(), xt::no_ownership(), detail::shape_array(x.extents(), dims{}));
}
template <class T, class... D, class Error = ERROR_R3_elements_of_a_temporary_are_gone<shape<D...>>>
Error adapt_xtensor(const tensor<T, D...>&& temporary);

}  // namespace dimwise
