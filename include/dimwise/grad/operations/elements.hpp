// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/operations/elements.hpp -- the adjoints of products, of what goes over elements, of rows and totals.
//
// Layer: grad. The library has them all (grad/record/adjoints_definitions.hpp), except those of a user's functions and
// of losses.
// Tests: tests/grad/operations/elements.test.cpp, tests/grad/operations/rows.test.cpp
#pragma once

#include <dimwise/expr/elements/derivative.hpp>
#include <dimwise/grad/operations/send.hpp>

namespace dimwise::detail {

template <class Shape, class T, class Over, class A, class B>
struct adjoint_of<node<product_over<Over>, Shape, T, A, B>> {
  template <class C>
  static constexpr adjoint_function<C>* of_records = &send_product<C>;
};

// ---- elements -------------------------------------------------------------------------------------------------------

template <class F>
inline constexpr bool is_function_of_records =
    function_code<F> != kernels::function::none || operation_code<F>.has_value() ||
    is_any_of<F, fn::choose, fn::pow, fn::clamp>;
template <class Shape, class T, class F, class... X>
  requires is_function_of_records<F>
struct adjoint_of<node<apply<F>, Shape, T, X...>> {
  template <class C>
  static constexpr adjoint_function<C>* of_records = std::is_same_v<F, fn::choose>                 ? &send_chosen<C>
                                                     : is_any_of<F, fn::pow, fn::clamp>            ? &send_partials<C>
                                                     : function_code<F> != kernels::function::none ? &send_unary<C>
                                                                                                   : &send_binary<C>;
};
// A user's own function, which says its derivatives, and those of losses.
template <class Shape, class T, class F, class... X>
  requires(!is_function_of_records<F> && (fn::says_derivative<F, 0, untracked_t<value_of<X>>...> ||
                                          fn::has_partial_derivatives<F, either_t<true, untracked_t<T>, X>...>))
struct adjoint_of<node<apply<F>, Shape, T, X...>> {
  using N = node<apply<F>, Shape, T, X...>;
  template <class G>
  static void send(const N& n, const G& arrived) {
    const auto g = for_children<X...>(arrived);
    each_index<sizeof...(X)>([&](auto i) __attribute__((always_inline)) {
      if constexpr (is_tracked<element_t<i, list<X...>>>) {
        send_reduced(n.template child<i>(),
                     chained(n, g, fn::own_chain<F, i>{n.op().f}, std::index_sequence_for<X...>{}));
      }
    });
  }

 private:
  template <class G, class Chain, std::size_t... J>
  static auto chained(const N& n, const G& g, const Chain& chain, std::index_sequence<J...>) {
    return by_element(chain, g, plain_value(n.template child<J>())...);
  }
};

// ---- rows and totals ------------------------------------------------------------------------------------------------

// An operation whose gradient reads nothing has none (R21).
template <class Shape, class T, class How, class Over, class E>
  requires(How::backward != backward_reads::none)
struct adjoint_of<node<rows_over<How, Over>, Shape, T, E>> {
  template <class C>
  static constexpr adjoint_function<C>* of_records = &send_rows<C, How>;
};
template <class Shape, class T, class How, class Over, class E>
  requires(How::backward != backward_reads::none)
struct adjoint_of<node<total_over<How, Over>, Shape, T, E>> {
  template <class C>
  static constexpr adjoint_function<C>* of_records = &send_total<C, How>;
};

}  // namespace dimwise::detail
