// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/adjoint.hpp -- the adjoint of each operation: what arrives at a node is sent to its children.
//
// Layer: grad. An adjoint is derived from the node's type and is written with the nodes of the language:
// `send_gradient` checks once that what arrives has the node's dimensions and no marks. `send(n, g)` of an operation
// sends to its tracked children only. Tests: tests/grad/, tests/conformance/gradients*.cpp
#pragma once

#include <dimwise/eval/kernels_backward.hpp>
#include <dimwise/eval/relative_ids.hpp>
#include <dimwise/expr/derivative.hpp>
#include <dimwise/expr/ids.hpp>
#include <dimwise/expr/join.hpp>
#include <dimwise/expr/reorder.hpp>
#include <dimwise/expr/window.hpp>
#include <dimwise/grad/tracked.hpp>

namespace dimwise {

namespace detail {

// The adjoint of a node; an operation without one is refused by its name (R21).
template <class N>
struct adjoint_of {
  template <class G>
  static void send(const N&, const G&) {
    // An incomplete type: the compiler names it.
    [[maybe_unused]] const ERROR_R21_operation_has_no_gradient<operation_of<N>, operand_t<shape_of<N>>> error;
  }
};

template <class N, class G>
void send_gradient(const N& n, const G& g) {
  if constexpr (is_tracked<N>) {
    if constexpr (is_tensor<N>) {
      if (n.origin() != nullptr) { n.origin()->add(g); }
    } else {
      static_assert(same_set<dims_t<shape_of<N>>, dims_t<shape_of<G>>> && marks_t<shape_of<G>>::size == 0,
                    "dimwise: an adjoint gives a gradient of other dimensions than the node has");
      adjoint_of<N>::send(n, g);
    }
  }
}

// ---- what adjoints are made of --------------------------------------------------------------------------------------

// The value of a child without its marks.
template <class X>
auto plain_value(const X& x) {
  auto value = untracked_of(x);
  if constexpr (marks_t<shape_of<X>>::size == 0) {
    return value;
  } else {
    return make_with_marks<gradient_shape<X>>(value);
  }
}
// Something that is read more than once, in memory.
template <class X>
auto kept(const X& x) {
  if constexpr (is_leaf<X>) {
    return x;
  } else {
    return tensor(x);
  }
}

// The sum over dimensions that a child lacks.
template <class Over, class G>
auto summed_over(const G& g) {
  if constexpr (Over::size == 0) {
    return g;
  } else {
    using shape = make_shape_t<difference_t<dims_t<shape_of<G>>, Over>, list<>>;
    return make_total<shape, value_of<G>, totals::sum, Over>(g);
  }
}
// `g` for a child that may lack dimensions of the node: it was the same along them.
template <class X, class G>
auto reduced_to(const G& g) {
  return summed_over<difference_t<dims_t<shape_of<G>>, dims_t<shape_of<X>>>>(g);
}
template <class X, class G>
void send_reduced(const X& x, const G& g) {
  if constexpr (is_tracked<X>) { send_gradient(x, reduced_to<X>(g)); }
}

// `g` for every element along dimensions that it lacks: the shape of X.
template <class X, class G>
auto repeated_to(const X& x, const G& g) {
  using shape = gradient_shape<X>;
  return restride<shape, look::broadcast, G>({}, extents_from<shape>("gradient", x.extents()), g);
}

// f of gradients and values, element by element; the first operand says the dimensions.
template <class F, class First, class... X>
auto by_element(const F& f, const First& first, const X&... x) {
  using shape = gradient_shape<First>;
  return make_node<shape, value_of<First>>(apply<F>{f}, extents_from<shape>("gradient", first.extents()), first, x...);
}
template <class G>
auto negated(const G& g) {
  return by_element(fn::negate{}, g);
}

template <class... X>
inline constexpr std::size_t tracked_count = (std::size_t{0} + ... + std::size_t{is_tracked<X>});

// `g` once, where several children get it.
template <class... X, class G>
auto for_children(const G& g) {
  if constexpr (tracked_count<X...> > 1) {
    return kept(g);
  } else {
    return g;
  }
}

// ---- products -------------------------------------------------------------------------------------------------------

// d(a·b)/da = g·b over what only b has, d(a·b)/db = a·g over what only a has.
template <class Over, class A, class B>
auto product_back(const A& a, const B& b) {
  using facts = product_facts<Over, list<>, shape_of<A>, shape_of<B>>;
  return make_contraction<Over, list<>, accepted<make_shape_t<typename facts::result, list<>>>>("gradient", a, b);
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

// A gradient of scores: what is −0 there was hidden behind them.
template <class Facts, class G>
auto hiding_places(const G& g) {
  if constexpr (Facts::is_raw || Facts::is_single_query) {
    return restride<shape_of<G>, look::hidden_places, G>({}, g.extents(), g);
  } else {
    return g;
  }
}

template <class Shape, class T, class Over, class A, class B>
struct adjoint_of<node<product_over<Over>, Shape, T, A, B>> {
  using N = node<product_over<Over>, Shape, T, A, B>;
  using facts = product_facts<Over, list<>, shape_of<A>, shape_of<B>>;

  template <class G>
  static void send(const N& n, const G& arrived) {
    using names = restored_names<dims_t<Shape>, typename facts::result>;
    const auto g = hiding_places<facts>(kept(names::of(arrived)));
    const auto& a = n.template child<0>();
    const auto& b = n.template child<1>();
    if constexpr (is_tracked<A>) { send_gradient(a, product_back<typename facts::free_b>(g, plain_value(b))); }
    if constexpr (is_tracked<B>) { send_gradient(b, product_back<typename facts::free_a>(g, plain_value(a))); }
  }
};

// ---- elements -------------------------------------------------------------------------------------------------------

template <class Shape, class T, class F, class... X>
struct adjoint_of<node<apply<F>, Shape, T, X...>> {
  using N = node<apply<F>, Shape, T, X...>;

  template <class G>
  static void send(const N& n, const G& arrived) {
    const auto g = for_children<X...>(arrived);
    each_index<sizeof...(X)>([&](auto i) {
      if constexpr (is_tracked<element_t<i, list<X...>>>) {
        send_reduced(n.template child<i>(), part<i>(n, g, F{n.op().f}));
      }
    });
  }

 private:
  // What is sent to child I.
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
    return by_element(fn::multiply{}, g, plain_value(n.template child<1 - I>()));
  }
  template <std::size_t I, class G>
  static auto part(const N& n, const G& g, fn::divide) {
    if constexpr (I == 0) {
      return by_element(fn::divide{}, g, plain_value(n.template child<1>()));
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

template <class Shape, class T, class How, class Over, class E>
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
        send_gradient(x,
                      repeated_to(x, tensor<value_of<G>>(static_cast<value_of<G>>(*kept(g).data() * inverse(count)))));
      } else {
        send_gradient(x, repeated_to(x, by_element(fn::multiply{}, g, make_constant<value_of<G>>(inverse(count)))));
      }
    } else if constexpr (std::is_same_v<How, totals::logsumexp>) {  // g · softmax(x)
      const auto weights = make_rows<gradient_shape<E>, rows::softmax, Over>(plain_value(x));
      send_gradient(x, by_element(fn::multiply{}, weights, g));
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

// ---- views ----------------------------------------------------------------------------------------------------------

template <class Shape, class T, class How, class E>
struct adjoint_of<node<view_as<How>, Shape, T, E>> {
  using N = node<view_as<How>, Shape, T, E>;
  template <class G>
  static void send(const N& n, const G& g) {
    send_gradient(n.template child<0>(), back(n, g, n.op().how));
  }

 private:
  template <class G>
  static auto back(const N&, const G& g, look::marks) {
    return g;
  }
  template <class G>
  static auto back(const N& n, const G& g, look::regroup) {
    using shape = gradient_shape<E>;
    return restride<shape, look::regroup, G>({}, extents_from<shape>("gradient", n.template child<0>().extents()), g);
  }
  template <class G>
  static auto back(const N&, const G& g, look::broadcast) {
    return reduced_to<E>(g);
  }
  template <class From, class To, class G>
  static auto back(const N&, const G& g, look::rename<From, To>) {
    using shape = make_shape_t<replace_t<dims_t<shape_of<G>>, To, list<From>>, list<>>;
    return make_rename<accepted<shape>, To, From>("gradient", g);
  }
  template <class G, class Look>
  static auto back(const N& n, const G& g, const Look& how) {
    using shape = gradient_shape<E>;
    using view = gradient_shape<N>;
    return make_node<shape, value_of<G>>(view_back<Look, view>{how, extents_from<view>("gradient", n.extents())},
                                         extents_from<shape>("gradient", n.template child<0>().extents()), g);
  }
};

// ---- joins, gather, scatter, orders ---------------------------------------------------------------------------------

// Part `I` of what was put one behind the other.
template <class Whole, class Part, class X, class G>
auto part_of(const X& x, const G& g, std::size_t first) {
  using shape = make_shape_t<replace_t<dims_t<shape_of<G>>, Whole, list<Part>>, list<>>;
  const auto e = extents_from<shape>("gradient", x.extents());
  if constexpr (std::is_same_v<Whole, Part> || !requires { typename parts_of<Whole>::type; }) {
    return restride<shape, look::slice<Whole, Part>, G>({{first}}, e, g);
  } else {
    return restride<shape, look::part<Whole, Part>, G>({}, e, g);
  }
}
template <class Shape, class T, class Whole, class... Parts, class... X>
struct adjoint_of<node<join_along<Whole, list<Parts...>>, Shape, T, X...>> {
  using N = node<join_along<Whole, list<Parts...>>, Shape, T, X...>;
  template <class G>
  static void send(const N& n, const G& arrived) {
    const auto g = for_children<X...>(arrived);
    std::size_t first = 0;
    each_index<sizeof...(X)>([&](auto i) {
      using part = element_t<i, list<Parts...>>;
      const auto& x = n.template child<i>();
      if constexpr (is_tracked<element_t<i, list<X...>>>) { send_gradient(x, part_of<Whole, part>(x, g, first)); }
      first += x.extents().template extent<part>();
    });
  }
};
template <class Shape, class T, class D, class... X>
struct adjoint_of<node<stack_along<D>, Shape, T, X...>> {
  using N = node<stack_along<D>, Shape, T, X...>;
  template <class G>
  static void send(const N& n, const G& arrived) {
    const auto g = for_children<X...>(arrived);
    using whole = std::remove_cvref_t<decltype(g)>;
    each_index<sizeof...(X)>([&](auto i) {
      if constexpr (is_tracked<element_t<i, list<X...>>>) {
        using shape = make_shape_t<difference_t<dims_t<shape_of<whole>>, list<D>>, list<>>;
        const auto& x = n.template child<i>();
        send_gradient(x, restride<shape, look::at<D>, whole>({{i}}, extents_from<shape>("gradient", x.extents()), g));
      }
    });
  }
};
template <class Shape, class T, class D, class Table, class Ids>
struct adjoint_of<node<gather_along<D>, Shape, T, Table, Ids>> {
  using N = node<gather_along<D>, Shape, T, Table, Ids>;
  template <class G>
  static void send(const N& n, const G& g) {
    using shape = gradient_shape<Table>;
    const auto& table = n.template child<0>();
    send_gradient(table, scatter_add_node<shape, D, G, Ids>({}, extents_from<shape>("gradient", table.extents()), g,
                                                            n.template child<1>()));
  }
};
template <class Shape, class T, class D, class Values, class Ids>
struct adjoint_of<node<scatter_along<D>, Shape, T, Values, Ids>> {
  using N = node<scatter_along<D>, Shape, T, Values, Ids>;
  template <class G>
  static void send(const N& n, const G& g) {
    using shape = gradient_shape<Values>;
    const auto& values = n.template child<0>();
    send_gradient(values, gathered<shape, D, G, Ids>({}, extents_from<shape>("gradient", values.extents()), g,
                                                     n.template child<1>()));
  }
};
template <class Shape, class T, class How, class D, class E>
struct adjoint_of<node<reorder<How, D>, Shape, T, E>> {
  using N = node<reorder<How, D>, Shape, T, E>;
  template <class G>
  static void send(const N& n, const G& g) {
    const extent_t extent = n.extents().template extent<D>();
    send_gradient(n.template child<0>(),
                  reordered<shape_of<G>, How, D, G>({n.op().by == 0 ? 0 : extent - n.op().by}, g.extents(), g));
  }
};

// ---- masks and biases -----------------------------------------------------------------------------------------------

template <class Shape, class T, class E, class M>
struct adjoint_of<node<hide, Shape, T, E, M>> {
  using N = node<hide, Shape, T, E, M>;
  template <class G>
  static void send(const N& n, const G& g) {
    using mask_shape = make_shape_t<typename M::facts::dims, list<>>;
    using shape = gradient_shape<G>;
    const indicator_node<mask_shape, bool, M> visible({}, extents_from<mask_shape>("gradient", n.extents()),
                                                      n.template child<1>());
    send_reduced(n.template child<0>(),
                 make_node<shape, value_of<G>>(apply<fn::visible_part>{}, extents_from<shape>("gradient", g.extents()),
                                               visible, g));
  }
};
template <class Shape, class T, class E, class B>
struct adjoint_of<node<add_bias, Shape, T, E, B>> {
  using N = node<add_bias, Shape, T, E, B>;
  template <class G>
  static void send(const N& n, const G& arrived) {
    const auto g = for_children<E, B>(arrived);
    send_reduced(n.template child<0>(), g);
    send_reduced(n.template child<1>(), g);
  }
};
template <class Shape, class T, class E, class B>
struct adjoint_of<node<add_position_bias, Shape, T, E, B>> {
  using N = node<add_position_bias, Shape, T, E, B>;
  template <class G>
  static void send(const N& n, const G& arrived) {
    const auto g = for_children<E, B>(arrived);
    send_reduced(n.template child<0>(), g);
    if constexpr (is_tracked<B>) { send_to_table(n, g, n.template child<1>()); }
  }

 private:
  // The table was read by the distances' ids.
  template <class G, class Q, class K, class R, class Table, class Bucket>
  static void send_to_table(const N& n, const G& g, const relative_bias_of<Q, K, R, Table, Bucket>& b) {
    if constexpr (is_tracked<Table>) {
      const auto& e = n.extents();
      using ids_type = tensor<id<R>, Q, K>;
      auto ids = ids_type::for_overwriting(merge_extents<typename ids_type::extents_type::atoms>("gradient", e));
      const std::ptrdiff_t first = b.key_origin(e, "relative_bias") - b.query_origin(e, "relative_bias");
      const extent_t buckets = b.table().extents().template extent<R>();
      auto* to = ids.overwrite();
      for (std::size_t q = 0; q < e.template extent<Q>(); ++q) {
        for (std::size_t k = 0; k < e.template extent<K>(); ++k) {
          *to++ = id<R>(b.bucket()(first + static_cast<std::ptrdiff_t>(k) - static_cast<std::ptrdiff_t>(q), buckets));
        }
      }
      using shape = gradient_shape<Table>;
      using others = difference_t<difference_t<dims_t<shape_of<G>>, dims_t<shape>>, list<Q, K>>;
      const auto sums = summed_over<others>(g);
      send_gradient(b.table(), scatter_add_node<shape, R, std::remove_cv_t<decltype(sums)>, ids_type>(
                                   {}, extents_from<shape>("gradient", b.table().extents()), sums, ids));
    }
  }
};

// ---- positions ------------------------------------------------------------------------------------------------------

// Turned by the opposite angles.
template <class Shape, class T, class P, class F, class Pairs, class E, class... Angles>
struct adjoint_of<node<turned<P, F, Pairs>, Shape, T, E, Angles...>> {
  using N = node<turned<P, F, Pairs>, Shape, T, E, Angles...>;
  static_assert(!(is_tracked<Angles> || ...), "dimwise: cosines and sines of rotary are constants (R21)");
  template <class G>
  static void send(const N& n, const G& g) {
    send(n, g, std::index_sequence_for<Angles...>{});
  }

 private:
  template <class G, std::size_t... I>
  static void send(const N& n, const G& g, std::index_sequence<I...>) {
    auto op = n.op();
    op.backwards = true;
    const auto e = extents_from<shape_of<G>>("gradient", n.extents());
    send_gradient(n.template child<0>(), node<turned<P, F, Pairs>, shape_of<G>, value_of<G>, G, Angles...>(
                                             op, e, g, n.template child<1 + I>()...));
  }
};
template <class Shape, class T, class Q, class R, class K, class E>
struct adjoint_of<node<skewed<Q, R, K>, Shape, T, E>> {
  using N = node<skewed<Q, R, K>, Shape, T, E>;
  template <class G>
  static void send(const N& n, const G& g) {
    using shape = gradient_shape<E>;
    const auto& x = n.template child<0>();
    const std::ptrdiff_t first = n.extents().template origin<K>("skew") - n.extents().template origin<Q>("skew") -
                                 x.extents().template origin<R>("skew");
    send_gradient(
        x, make_node<shape, value_of<G>>(skew_back<Q, R, K>{first}, extents_from<shape>("gradient", x.extents()), g));
  }
};

}  // namespace detail

}  // namespace dimwise
