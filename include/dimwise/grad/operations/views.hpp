// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/operations/views.hpp -- the adjoints of views, joins, ids and orders.
//
// Layer: grad.
// Tests: tests/grad/operations/views.test.cpp
#pragma once

#include <dimwise/expr/elements/numbers.hpp>
#include <dimwise/expr/rearrange/ids.hpp>
#include <dimwise/expr/rearrange/join.hpp>
#include <dimwise/expr/rearrange/reorder.hpp>
#include <dimwise/expr/rearrange/replace.hpp>
#include <dimwise/grad/operations/send.hpp>

namespace dimwise::detail {

// ---- views ----------------------------------------------------------------------------------------------------------

template <class Shape, class T, class How, class E>
struct adjoint_of<node<view_as<How>, Shape, T, E>> {
  template <class C>
  static constexpr adjoint_function<C>* of_records = &send_view<C>;
};

// ---- joins, gather, scatter, orders ---------------------------------------------------------------------------------

// Part `I` of a concatenation.
template <class Whole, class Part, class X, class G>
auto part_of(const X& x, const G& g, std::size_t first) {
  using shape = make_shape_t<replace_t<dims_t<shape_of<G>>, Whole, list<Part>>, list<>>;
  const auto e = extents_from<shape>("gradient", x.extents());
  if constexpr (std::is_same_v<Whole, Part> || !requires { typename parts_of<Whole>::type; }) {
    return restride<shape, views::slice<Whole, Part>, G>({{first}}, e, g);
  } else {
    return restride<shape, views::part<Whole, Part>, G>({}, e, g);
  }
}
template <class Shape, class T, class Whole, class Parts, class... X>
struct adjoint_of<node<join_along<Whole, Parts>, Shape, T, X...>> {
  using N = node<join_along<Whole, Parts>, Shape, T, X...>;
  template <class G>
  static void send(const N& n, const G& arrived) {
    const auto g = for_children<X...>(arrived);
    std::size_t first = 0;
    each_operand(Parts{}, n, [&]<class Part>(const auto& x, std::type_identity<Part>) {
      if constexpr (is_tracked<std::remove_cvref_t<decltype(x)>>) {
        send_gradient(x, part_of<Whole, Part>(x, g, first));
      }
      first += x.extents().template extent<Part>();
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
    using shape = make_shape_t<difference_t<dims_t<shape_of<whole>>, list<D>>, list<>>;
    std::size_t number = 0;
    each_operand(list<X...>{}, n, [&](const auto& x, auto) {
      if constexpr (is_tracked<std::remove_cvref_t<decltype(x)>>) {
        const auto e = extents_from<shape>("gradient", x.extents());
        send_gradient(x, restride<shape, views::at<D>, whole>({{number}}, e, g));
      }
      ++number;
    });
  }
};
template <class Shape, class T, class D, class X, class New>
struct adjoint_of<node<replace_along<D>, Shape, T, X, New>> {
  using N = node<replace_along<D>, Shape, T, X, New>;
  template <class G>
  static void send(const N& n, const G& arrived) {
    const auto g = for_children<X, New>(arrived);
    using whole = std::remove_cvref_t<decltype(g)>;
    const auto& part = n.template child<1>();
    using shape = gradient_shape<New>;
    if constexpr (is_tracked<X>) {  // 0 where it was replaced
      const auto zero = make_constant<value_of<whole>>(0.0);
      const auto zeros = repeated_to(part, zero);
      send_gradient(n.template child<0>(),
                    make_node<shape_of<whole>, value_of<whole>>(replace_along<D>{n.op().first}, g.extents(), g, zeros));
    }
    if constexpr (is_tracked<New>) {
      const auto e = extents_from<shape>("gradient", part.extents());
      if constexpr (is_in<D, dims_t<shape>>) {
        using slice = shape_of<whole>;
        send_gradient(
            part, restride<slice, views::slice<D, D>, whole>({{n.op().first}}, extents_from<slice>("gradient", e), g));
      } else {
        using rest = make_shape_t<difference_t<dims_t<shape_of<whole>>, list<D>>, list<>>;
        send_gradient(part,
                      restride<rest, views::at<D>, whole>({{n.op().first}}, extents_from<rest>("gradient", e), g));
      }
    }
  }
};
template <class Shape, class T, class D, class Table, class Ids>
struct adjoint_of<node<gather_along<D>, Shape, T, Table, Ids>> {
  template <class C>
  static constexpr adjoint_function<C>* of_records = &send_gathered<C>;
};
template <class Shape, class T, class D, class Values, class Ids>
struct adjoint_of<node<scatter_along<D>, Shape, T, Values, Ids>> {
  template <class C>
  static constexpr adjoint_function<C>* of_records = &send_scattered<C>;
};
template <class Shape, class T, class How, class D, class E>
  requires is_any_of<How, orders::roll, orders::flip>  // of which the other direction is one of them
struct adjoint_of<node<reorder<How, D>, Shape, T, E>> {
  using N = node<reorder<How, D>, Shape, T, E>;
  template <class G>
  static void send(const N& n, const G& g) {
    const extent_t extent = n.extents().template extent<D>();
    send_gradient(n.template child<0>(),
                  reordered<shape_of<G>, How, D, G>({n.op().by == 0 ? 0 : extent - n.op().by}, g.extents(), g));
  }
};

}  // namespace dimwise::detail
