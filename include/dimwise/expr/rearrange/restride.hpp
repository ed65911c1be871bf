// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/rearrange/restride.hpp -- new names, another order, other grouping, parts: the same elements, looked at
// otherwise.
//
// Layer: expr. Nothing here computes; the evaluator changes extents, strides and the first element.
// Tests: tests/expr/rearrange/restride.test.cpp, tests/compile_fail/restride/
#pragma once

#include <dimwise/expr/node.hpp>
#include <dimwise/expr/operation.hpp>
#include <dimwise/shape/rules/index.hpp>
#include <dimwise/shape/rules/restride.hpp>

namespace dimwise {

namespace detail {

// The effects of views on the axes of an operand; the evaluator has one step for each.
namespace views {
// `From` is called `To`; a composite may become one dimension, and the reverse.
template <class From, class To>
struct rename {
  static constexpr const char* name = "rename";
};
// Another order, or other grouping of the same axes: permute, split, merge.
struct regroup {
  static constexpr const char* name = "regroup";
};
// One part of a sum.
template <class Whole, class Part>
struct part {
  static constexpr const char* name = "part";
};
// A and B run together.
template <class A, class B>
struct diagonal {
  static constexpr const char* name = "diagonal";
};
// Dimensions that the operand lacks: every element again.
struct broadcast {
  static constexpr const char* name = "broadcast";
};
}  // namespace views

// The slots of a shape where `From` became `To`.
template <class Shape, class From, class To, class Extents>
extents_for<Shape> renamed_extents(const char* operation, const Extents& e) {
  auto result = merge_extents<typename extents_for<Shape>::atoms>(operation, e);
  const extent_t n = e.template extent<From>(operation);
  if constexpr (!is_composite<To> && has_slot<To>) {
    slot made{n, unknown_origin};
    if constexpr (!is_composite<From>) {
      made = e.template of_atom<From>();
      if constexpr (has_documents<From> && has_documents<To>) {
        result.template documents<To>() = e.template documents<From>();
      }
    }
    if constexpr (To::static_extent != at_run_time) { made.extent = To::static_extent; }
    make_extent<Shape, To>(result, made, operation);
  }
  if (const extent_t renamed = result.template extent<To>(operation); renamed != n) {
    throw_unequal(operation, &dimension_name<From>, n, &dimension_name<To>, renamed, "R3");
  }
  return result;
}

template <class Verdict, class From, class To, class X>
auto make_rename(const char* operation, const X& x) {
  using shape = typename Verdict::shape;
  return restride<shape, views::rename<From, To>, X>({}, renamed_extents<shape, From, To>(operation, x.extents()), x);
}
template <class Verdict, class How, class X>
auto make_restride(const X& x, How how, const char* operation) {
  using shape = typename Verdict::shape;
  auto e = extents_from<shape>(operation, x.extents());
  check_composites(dims_t<shape>{}, e, operation);
  return restride<shape, How, X>({how}, e, x);
}

template <class Verdict, class X, class... Extents>
auto make_broadcast(const X& x, const char* operation, const Extents&... e) {
  using shape = typename Verdict::shape;
  return restride<shape, views::broadcast, X>({}, extents_from<shape>(operation, e...), x);
}

// ---- the calls ------------------------------------------------------------------------------------------------------

namespace calls {

struct rename {
  template <class From, class To, operand X>
  static auto judge(list<From, To>, const X&) -> rule::rename<From, To, shape_of<X>>;
  template <class Verdict, class From, class To, operand X>
  [[gnu::always_inline]] static auto make(list<From, To>, const X& x) {
    return make_rename<Verdict, From, To>("rename", x);
  }
};
struct relabel {
  template <class From, class To, operand X>
  static auto judge(list<From, To>, const X&) -> rule::relabel<From, To, shape_of<X>>;
  template <class Verdict, class From, class To, operand X>
  [[gnu::always_inline]] static auto make(list<From, To>, const X& x) {
    return make_rename<Verdict, From, To>("relabel", x);
  }
};
// The same axes in another order, or grouped otherwise.
template <class Word>
struct regroup_word {
  template <class Verdict, class Named, operand X>
  [[gnu::always_inline]] static auto make(Named, const X& x) {
    return make_restride<Verdict>(x, views::regroup{}, Word::name);
  }
};
struct permute : regroup_word<permute> {
  static constexpr const char* name = "permute";
  template <class... D, operand X>
  static auto judge(list<D...>, const X&) -> rule::permute<list<D...>, shape_of<X>>;
};
struct split : regroup_word<split> {
  static constexpr const char* name = "split";
  template <class... Factors, operand X>
    requires(sizeof...(Factors) > 1)
  static auto judge(list<Factors...>, const X&) -> rule::split<shape_of<X>, Factors...>;
};
struct merge : regroup_word<merge> {
  static constexpr const char* name = "merge";
  template <class... Factors, operand X>
    requires(sizeof...(Factors) > 1)
  static auto judge(list<Factors...>, const X&) -> rule::merge<shape_of<X>, Factors...>;
};
struct part {
  template <class P, operand X>
  static auto judge(list<P>, const X&) -> rule::part<P, shape_of<X>>;
  template <class Verdict, class P, operand X>
  [[gnu::always_inline]] static auto make(list<P>, const X& x) {
    using whole = typename sum_with<P, dims_t<shape_of<X>>>::type;
    return make_restride<Verdict>(x, views::part<whole, P>{}, "part");
  }
};
struct diagonal {
  template <class A, class B, operand X>
  static auto judge(list<A, B>, const X&) -> rule::diagonal<A, B, shape_of<X>>;
  template <class Verdict, class A, class B, operand X>
  [[gnu::always_inline]] static auto make(list<A, B>, const X& x) {
    const auto& e = x.extents();
    const extent_t of_a = e.template extent<A>();
    const extent_t of_b = e.template extent<B>();
    if (of_a != of_b) { throw_unequal("diagonal", &dimension_name<A>, of_a, &dimension_name<B>, of_b, "R15"); }
    return make_restride<Verdict>(x, views::diagonal<A, B>{}, "diagonal");
  }
};
struct broadcast {
  template <class Named, operand X, class D>
    requires begins<Named, list<D>>
  static auto judge(Named, const X&, const D&) -> rule::broadcast<D, shape_of<X>>;
  template <class D, operand X>
  static auto judge(list<D>, const X&) -> without_extent_t<op::broadcast, D, rule::broadcast<D, shape_of<X>>>;
  template <class D, operand X, number Given>
  static auto judge(list<D>, const X&, const Given&) -> extents_given_once<op::broadcast, D, Given>;
  template <class Verdict, class Named, operand X, class D = first_t<Named>>
  [[gnu::always_inline]] static auto make(Named, const X& x, const D& extent = {}) {
    return make_broadcast<Verdict>(x, "broadcast", one_extent(extent), x.extents());
  }
};
struct broadcast_like {
  template <operand X, operand Y>
  static auto judge(list<>, const X&, const Y&) -> rule::broadcast_like<shape_of<X>, shape_of<Y>>;
  template <class Verdict, operand X, operand Y>
  [[gnu::always_inline]] static auto make(list<>, const X& x, const Y& like) {
    return make_broadcast<Verdict>(x, "broadcast_like", x.extents(), like.extents());
  }
};

}  // namespace calls

}  // namespace detail

namespace no_adl {

/// `From` is called `To`, its prime or `out` or the reverse; marks follow: `rename<From, To>(x)`. Rejects other pairs
/// (R3).
DIMWISE_DETAIL_OPERATION(rename)

/// `From` is called `To` although they are not related: the visible exception, of the same extent (R3).
DIMWISE_DETAIL_OPERATION(relabel)

/// The same tensor with its dimensions in the order D…: memory order changes, meaning does not.
DIMWISE_DETAIL_OPERATION(permute)

/// `merged<Factors…>` as its factors: [merged<heads, d_k>] -> [heads, d_k]. Rejects other factors and orders (R4).
DIMWISE_DETAIL_OPERATION(split)

/// The factors as one dimension, `merged<Factors…>`, at the place of the first: [heads, seq, d_v] -> [merged<heads,
/// d_v>, seq].
DIMWISE_DETAIL_OPERATION(merge)

/// The part P of a summed dimension: [summed<P, Q>] -> [P] (R14).
DIMWISE_DETAIL_OPERATION(part)

/// The elements where A and B are equal; A stays: `diagonal<A, B>(x)`. Throws `extent_error` where their run-time
/// extents differ.
DIMWISE_DETAIL_OPERATION(diagonal)

/// The same elements for every element of D, which `x` lacks: [rest] -> [D, rest]. Ends `indexed<D>` (R18). A run-time
/// extent of D is given: `broadcast<batch>(x, batch{n})`.
DIMWISE_DETAIL_OPERATION(broadcast)

/// `x` for every element of the dimensions that `like` has and `x` lacks, which come last (R8): `broadcast_like(x,
/// like)`.
DIMWISE_DETAIL_OPERATION(broadcast_like)

}  // namespace no_adl

}  // namespace dimwise
