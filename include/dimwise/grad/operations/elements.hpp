// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/operations/elements.hpp -- the adjoints of products, of what goes over elements, of rows and totals.
//
// Layer: grad.
// Tests: tests/grad/operations/elements.test.cpp, tests/grad/operations/rows.test.cpp
#pragma once

#include <dimwise/expr/elements/derivative.hpp>
#include <dimwise/grad/operations/send.hpp>

namespace dimwise::detail {

// ---- products -------------------------------------------------------------------------------------------------------

// d(a·b)/da = g·b over what only b has, d(a·b)/db = a·g over what only a has. What zeros of g meet is left out.
template <class Over, class G, class X>
auto product_back(const G& g, const X& x) {
  using facts = product_facts<Over, list<>, shape_of<G>, shape_of<X>>;
  return make_contraction<Over, list<>, accepted<make_shape_t<typename facts::result, list<>>>>(
      "gradient", restride<shape_of<G>, views::arrived, G>({}, g.extents(), g), x);
}

// Factors that no strategy computes together with the product: what is in memory, and a function of it.
template <class Y>
inline constexpr bool is_read_alone = in_memory<Y>;
template <class Shape, class T, class F, class E>
inline constexpr bool is_read_alone<elementwise<Shape, T, F, E>> =
    in_memory<E> && !is_masked<E> && rounding_code<F> < 0;

// Whether the gradient of X is the product of a tensor and such a factor, in the element type of X.
template <class X, class G, class Y>
consteval bool multiplies_directly() {
  if constexpr (is_tensor<G> && renamed_tensor<X>::known && is_read_alone<untracked_type<Y>>) {
    using T = untracked_t<value_of<X>>;
    return std::is_same_v<value_of<G>, T> && std::is_same_v<untracked_t<value_of<Y>>, T>;
  } else {
    return false;
  }
}
// Sends to the factor `x` of a product: g times the other factor, summed over what only that one has.
template <class Over, class X, class G, class Y>
[[gnu::always_inline]] inline void send_product(const X& x, const G& g, const Y& y) {
  if constexpr (multiplies_directly<X, G, Y>()) {
    const auto& leaf = renamed_tensor<X>::of(x);
    if (leaf.origin() == nullptr) { return; }
    using T = value_of<G>;
    using result = axes_of_list_t<typename product_facts<Over, list<>, shape_of<G>, gradient_shape<Y>>::result>;
    evaluation_pass pass{current_context()};
    leaf.origin()->add(
        &compute_product_onto<T>,
        &gradient_product<result, axes_of_list_t<Over>, axes_for<shape_of<G>>, axes_for<shape_of<Y>>>::form,
        places<result, axes_for<shape_of<X>>>::at, leaf.extents(), read<T>(pass, g), read<T>(pass, untracked_of(y)));
  } else {
    send_gradient(x, product_back<Over>(g, plain_value(y)));
  }
}

// The dimensions of a product by the names that the operands have: out<D> where the result says D.
template <class Names, class Before>
struct restored_names;
template <>
struct restored_names<list<>, list<>> {
  template <class G>
  static auto of(const G& g) {
    return g;
  }
};
template <class Now, class... MoreNow, class Then, class... MoreThen>
struct restored_names<list<Now, MoreNow...>, list<Then, MoreThen...>> {
  template <class G>
  static auto of(const G& g) {
    using next = restored_names<list<MoreNow...>, list<MoreThen...>>;
    if constexpr (std::is_same_v<Now, Then>) {
      return next::of(g);
    } else {
      using shape = make_shape_t<replace_t<dims_t<shape_of<G>>, Now, list<Then>>, list<>>;
      return next::of(make_rename<accepted<shape>, Now, Then>("gradient", g));
    }
  }
};

template <class Shape, class T, class Over, class A, class B>
struct adjoint_of<node<product_over<Over>, Shape, T, A, B>> {
  using N = node<product_over<Over>, Shape, T, A, B>;
  using facts = product_facts<Over, list<>, shape_of<A>, shape_of<B>>;

  template <class G>
  static void send(const N& n, const G& arrived) {
    using names = restored_names<dims_t<Shape>, typename facts::result>;
    const auto g = kept(names::of(arrived));
    const auto& a = n.template child<0>();
    const auto& b = n.template child<1>();
    if constexpr (is_tracked<A>) { send_product<typename facts::free_b>(a, g, b); }
    if constexpr (is_tracked<B>) { send_product<typename facts::free_a>(b, g, a); }
  }
};

// ---- elements -------------------------------------------------------------------------------------------------------

template <class Shape, class T, class F, class... X>
struct adjoint_of<node<apply<F>, Shape, T, X...>> {
  using N = node<apply<F>, Shape, T, X...>;

  template <class G>
  static void send(const N& n, const G& arrived) {
    const auto g = for_children<X...>(arrived);
    each_index<sizeof...(X)>([&](auto i) __attribute__((always_inline)) {
      if constexpr (is_tracked<element_t<i, list<X...>>>) {
        send_reduced(n.template child<i>(), part<i>(n, g, F{n.op().f}));
      }
    });
  }

 private:
  // The gradient of child I.
  template <std::size_t, class G>
  static auto part(const N&, const G& g, fn::add) {
    return g;
  }
  template <std::size_t I, class G>
  static auto part(const N&, const G& g, fn::subtract) {
    if constexpr (I == 0) {
      return g;
    } else {
      return negated(g);
    }
  }
  template <std::size_t I, class G>
  static auto part(const N& n, const G& g, fn::multiply) {
    return by_element(fn::sent<fn::multiply>{}, g, plain_value(n.template child<1 - I>()));
  }
  template <std::size_t I, class G>
  static auto part(const N& n, const G& g, fn::divide) {
    if constexpr (I == 0) {
      return by_element(fn::sent<fn::divide>{}, g, plain_value(n.template child<1>()));
    } else {
      return by_element(fn::chain<fn::divide, 1>{}, g, plain_value(n.template child<0>()),
                        plain_value(n.template child<1>()));
    }
  }
  template <std::size_t I, class G>
  static auto part(const N& n, const G& g, fn::choose) {
    using shape = gradient_shape<G>;
    return make_node<shape, value_of<G>>(apply<fn::chosen_part<I == 1>>{}, extents_from<shape>("gradient", g.extents()),
                                         n.template child<0>(), g);
  }
  template <std::size_t I, class G, class Function>
  static auto part(const N& n, const G& g, const Function& f) {
    if constexpr (fn::says_derivative<Function, I, untracked_t<value_of<X>>...>) {
      return chained(n, g, fn::own_chain<Function, I>{f}, std::index_sequence_for<X...>{});
    } else {
      return chained(n, g, fn::chain<Function, I>{}, std::index_sequence_for<X...>{});
    }
  }
  template <class G, class Chain, std::size_t... J>
  static auto chained(const N& n, const G& g, const Chain& chain, std::index_sequence<J...>) {
    return by_element(chain, g, plain_value(n.template child<J>())...);
  }
};

// ---- rows and totals ------------------------------------------------------------------------------------------------

// An operation whose gradient reads nothing has none (R21).
template <class Shape, class T, class How, class Over, class E>
  requires(keeps_result<How> || keeps_operand<How>)
struct adjoint_of<node<rows_over<How, Over>, Shape, T, E>> {
  using N = node<rows_over<How, Over>, Shape, T, E>;
  template <class G>
  static void send(const N& n, const G& g) {
    const auto& x = n.template child<0>();
    if constexpr (keeps_result<How>) {
      send_gradient(x, back(n, g, kept(plain_value(n))));
    } else {
      send_gradient(x, back(n, g, plain_value(x)));
    }
  }

 private:
  template <class G, class Row>
  static auto back(const N& n, const G& g, const Row& row) {
    using shape = gradient_shape<E>;
    return make_node<shape, value_of<G>>(rows_back<How, Over>{n.op().epsilon},
                                         extents_from<shape>("gradient", n.extents()), g, row);
  }
};

template <class Shape, class T, class How, class Over, class E>
  requires(keeps_operand<How> || How::backward == backward_reads::formula)
struct adjoint_of<node<total_over<How, Over>, Shape, T, E>> {
  using N = node<total_over<How, Over>, Shape, T, E>;
  static constexpr bool masked = is_masked<E>;
  template <class G>
  static void send(const N& n, const G& g) {
    const auto& x = n.template child<0>();
    if constexpr (!masked && std::is_same_v<How, totals::sum>) {
      send_gradient(x, repeated_to(x, g));
    } else if constexpr (!masked && std::is_same_v<How, totals::mean>) {
      const double count = elements_of(x, Over{});
      if constexpr (dims_t<shape_of<G>>::size == 0) {  // one number
        const auto arrived = kept(g);
        send_gradient(x,
                      repeated_to(x, tensor<value_of<G>>(static_cast<value_of<G>>(*arrived.data() * inverse(count)))));
      } else {
        send_gradient(x, repeated_to(x, by_element(fn::multiply{}, g, make_constant<value_of<G>>(inverse(count)))));
      }
    } else if constexpr (std::is_same_v<How, totals::logsumexp>) {  // g · softmax(x)
      using shape = gradient_shape<E>;
      const auto weights = make_rows<shape, rows::softmax, Over>(plain_value(x));
      send_gradient(x, make_node<shape, value_of<G>>(apply<fn::sent<fn::multiply>>{},
                                                     extents_from<shape>("gradient", x.extents()), g, weights));
    } else {
      using shape = gradient_shape<E>;
      send_gradient(x, make_node<shape, value_of<G>>(total_back<How, Over, masked>{},
                                                     extents_from<shape>("gradient", x.extents()), g, plain_value(x)));
    }
  }

 private:
  template <class... D>
  static double elements_of(const E& x, list<D...>) {
    return (static_cast<double>(x.extents().template extent<D>("mean")) * ... * 1.0);
  }
  static double inverse(double count) { return count == 0 ? 0.0 : 1.0 / count; }
};

}  // namespace dimwise::detail
