// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/parameters/rebind.hpp -- the type of a model with another element type.
//
// Layer: nn.
// Tests: tests/nn/model.test.cpp
//
//   rebind<double, nn::linear<nn::from<d_model>, nn::to<hidden>>>        the same module of double
#pragma once

#include <dimwise/tensor/tensor.hpp>

#include <array>
#include <cstddef>

namespace dimwise {

namespace detail {

template <class To, class M>
struct rebound {
  using type = M;
};
template <class To, class M>
using rebound_t = typename rebound<To, M>::type;

template <class To, class M>
concept rebinds_itself = requires { typename M::template rebind<To>; };
// A type that was rejected where it was written stays as it is: another one would be a second error.
template <class M>
concept rejected_type = is_refused<M> || requires { typename M::refused_module; };

// Replaces an element type among template arguments; dimensions and tags stay.
template <class To, class X>
struct rebound_argument : rebound<To, X> {};
template <class To, real_element X>
struct rebound_argument<To, X> {
  using type = To;
};
template <class To, template <class...> class M, class... X>
  requires(!dimension_type<M<X...>> && !rebinds_itself<To, M<X...>> && !rejected_type<M<X...>>)
struct rebound<To, M<X...>> {
  using type = M<typename rebound_argument<To, X>::type...>;
};
template <class To, class M, std::size_t N>
struct rebound<To, std::array<M, N>> {
  using type = std::array<rebound_t<To, M>, N>;
};
template <class To, class T, class... D>
  requires(!dimension_type<tensor<T, D...>> && !rebinds_itself<To, tensor<T, D...>> && !rejected_type<tensor<T, D...>>)
struct rebound<To, tensor<T, D...>> {
  using type = tensor<std::conditional_t<real_element<T>, To, T>, D...>;
};
template <class To, class M>
  requires(!dimension_type<M> && rebinds_itself<To, M>)
struct rebound<To, M> {
  using type = typename M::template rebind<To>;
};

}  // namespace detail

/// The model M with elements of type T: modules with their element type as a template argument, tensors, and sequences
/// and tuples of them. Other modules declare a member `template <class T> using rebind = …`.
template <class T, class M>
using rebind = detail::rebound_t<T, M>;

}  // namespace dimwise
