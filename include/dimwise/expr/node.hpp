// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/node.hpp -- the one class of all expressions: an operation, its result's shape and element type, its
// children.
//
// Layer: expr. An operation is a small struct: its name, the dimensions that it names, its numbers (an ε, an offset). A
// child is an operand, a mask, or a bias that is made from positions; each offers `each_child(f)`, so that explain,
// plan and evaluation walk an expression without knowing its operations.
// Tests: tests/expr/node.test.cpp
#pragma once

#include <dimwise/tensor/view.hpp>

#include <utility>

namespace dimwise::detail {

// The children of a node, in order. Up to three are an aggregate: no constructor is compiled for it, and a tensor is
// copied without a look at its explicit constructors.
template <class... X>
struct children_of {};
template <class A>
struct children_of<A> {
  A a;
};
template <class A, class B>
struct children_of<A, B> {
  A a;
  B b;
};
template <class A, class B, class C>
struct children_of<A, B, C> {
  A a;
  B b;
  C c;
};
template <class A, class B, class C, class... More>
struct children_of<A, B, C, More...> {
  A a;
  B b;
  C c;
  children_of<More...> more;

  template <class X, class Y, class Z, class... Rest>
  children_of(X&& x, Y&& y, Z&& z, Rest&&... rest)
      : a(static_cast<X&&>(x)), b(static_cast<Y&&>(y)), c(static_cast<Z&&>(z)), more{static_cast<Rest&&>(rest)...} {}
};
template <std::size_t I, class Children>
[[gnu::always_inline]] constexpr auto& child_in(Children& all) {
  if constexpr (I == 0) {
    return all.a;
  } else if constexpr (I == 1) {
    return all.b;
  } else if constexpr (I == 2) {
    return all.c;
  } else {
    return child_in<I - 3>(all.more);
  }
}

// A base of what holds operands by value: moving copies, which shares the operands, and what was moved from keeps its
// meaning. It must be a direct base: of a class in between, the deleted move would be ignored.
struct moves_by_copy {
  moves_by_copy() = default;
  moves_by_copy(const moves_by_copy&) = default;
  moves_by_copy(moves_by_copy&&) = delete;
  moves_by_copy& operator=(const moves_by_copy&) = default;
  moves_by_copy& operator=(moves_by_copy&&) = delete;
  ~moves_by_copy() = default;
};

template <class Op, class Shape, class T, class... Children>
class node : public shaped_as<Shape>,
             public expression_base,
             private moves_by_copy,
             public stored_base<T, stored_t<Shape>>::type {
 public:
  using operation = Op;
  using shape_type = Shape;
  using value_type = T;
  using extents_type = extents_for<Shape>;
  using children = list<Children...>;

  template <class... X>
  node(Op op, extents_type e, X&&... x)
      : op_(static_cast<Op&&>(op)), extents_(static_cast<extents_type&&>(e)), children_{static_cast<X&&>(x)...} {}

  [[nodiscard, gnu::always_inline]] const Op& op() const { return op_; }
  [[nodiscard, gnu::always_inline]] const extents_type& extents() const { return extents_; }
  template <std::size_t I>
  [[nodiscard, gnu::always_inline]] const auto& child() const {
    return child_in<I>(children_);
  }
  /// f(child) for each of them, in order.
  template <class F>
  [[gnu::always_inline]] void each_child(const F& f) const {
    each_child(f, std::index_sequence_for<Children...>{});
  }

  /// The number, or the truth, that an expression without dimensions is: it is evaluated.
  operator T() const  // implicit: as for a tensor, no mark may be dropped
    requires(is_plain_number<Shape>)
  {
    return tensor<T>(*this);
  }

 private:
  template <class F, std::size_t... I>
  [[gnu::always_inline]] void each_child(const F& f, std::index_sequence<I...>) const {
    (f(child_in<I>(children_)), ...);
  }

  [[no_unique_address]] Op op_;
  extents_type extents_;
  [[no_unique_address]] children_of<Children...> children_;
};

template <class Shape, class T, class Op, class... X>
[[gnu::always_inline]] inline auto make_node(Op op, extents_for<Shape> e, X&&... x) {
  return node<Op, Shape, T, std::remove_cvref_t<X>...>(static_cast<Op&&>(op), static_cast<extents_for<Shape>&&>(e),
                                                       static_cast<X&&>(x)...);
}

// The extents of a node with this shape, merged from those of its operands.
template <class Shape, class... Extents>
[[gnu::always_inline]] inline extents_for<Shape> extents_from(const char* operation, const Extents&... e) {
  return merge_extents<typename extents_for<Shape>::atoms>(operation, e...);
}

// The extent of one dimension.
template <class D>
extents_of<list<D>> one_extent(const D& d) {
  extents_of<list<D>> e;
  e.set(d);
  return e;
}

// The operation of a node; `nothing` of tensors, views, masks.
template <class N>
struct operation_in {
  using type = nothing;
};
template <class Op, class Shape, class T, class... Children>
struct operation_in<node<Op, Shape, T, Children...>> {
  using type = Op;
};
template <class N>
using operation_of = typename operation_in<N>::type;

template <class N>
struct children_in {
  using type = list<>;
};
template <class Op, class Shape, class T, class... Children>
struct children_in<node<Op, Shape, T, Children...>> {
  using type = list<Children...>;
};
template <class N>
using children_t = typename children_in<N>::type;

// The first child: all that an operation of one operand reads.
template <class N>
using child_t = element_t<0, children_t<N>>;

// An operation along one dimension, and its name.
#define DIMWISE_DETAIL_ALONG(operation, text) \
  template <class D>                          \
  struct operation {                          \
    static constexpr const char* name = text; \
    using over = list<D>;                     \
  };

// ---- views: the elements of the operand, read by other names, strides, or marks ------------------------------------

// `How` says what changes (expr/rearrange/restride.hpp); the evaluator has one step for each.
template <class How>
struct view_as {
  static constexpr const char* name = How::name;
  How how;
};
template <class Shape, class How, class E>
using restride = node<view_as<How>, Shape, value_of<E>, E>;

template <class N>
inline constexpr bool is_view = false;
template <class Shape, class How, class E>
inline constexpr bool is_view<restride<Shape, How, E>> = true;

namespace views {
// The same elements under other marks.
struct marks {
  static constexpr const char* name = "marks";
};
}  // namespace views
template <class Shape, class E>
using with_marks = restride<Shape, views::marks, E>;

template <class Shape, class E>
[[gnu::always_inline]] inline auto make_with_marks(E&& e) {
  return make_node<Shape, value_of<std::remove_cvref_t<E>>>(view_as<views::marks>{}, e.extents(), static_cast<E&&>(e));
}

}  // namespace dimwise::detail
