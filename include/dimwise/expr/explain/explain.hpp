// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/explain/explain.hpp -- the derivation of an expression: its steps as words and numbers, for texts and
// pictures.
//
// Layer: expr. Reads an expression, computes nothing. A node that this header does not know is called by its class and
// shown with the operands that it holds. viz/explain.hpp prints the steps, viz/pictures/derivation.hpp draws them.
// Tests: tests/viz/explain.test.cpp
//
//   std::cout << describe(q);                                   // batch[2] heads[8] seq[5] d_k[64]
#pragma once

#include <dimwise/expr/explain/nodes.hpp>
#include <dimwise/expr/parts.hpp>
#include <dimwise/expr/products/scores.hpp>
#include <dimwise/expr/rearrange/reorder.hpp>
#include <dimwise/expr/rows/reduce.hpp>
#include <dimwise/support/math.hpp>

#include <string>

namespace dimwise {

namespace detail {

template <class N>
said explained(const N& n, derivation& d);

template <class N>
concept is_named = requires { operation_of<N>::name; };
template <class N>
concept is_roll = std::same_as<typename operation_of<N>::how, orders::roll>;
template <class N>
concept names_dimensions = requires { typename operation_of<N>::over; };

// ---- what each node does --------------------------------------------------------------------------------------------

// A contraction that `scores` formed is not raw: the operation includes its scale.
template <class N>
said explained_product(const N& n, derivation& d, const char* name) {
  const said a = explained(n.template child<0>(), d);
  const said b = explained(n.template child<1>(), d);
  step_description s{name, names_in_list<typename operation_of<N>::over>::get(), {a, b}, shape_in_words(n)};
  const std::string what = product_in_words(s.operation, s);
  return d.add(what, static_cast<step_description&&>(s));
}

template <class T>
inline constexpr bool is_scaling = false;
template <class S, class T, class P, class By>
inline constexpr bool is_scaling<elementwise<S, T, fn::multiply, P, By>> = true;

// " = 1/√24" for a number that is one over a root.
template <class By>
std::string as_root(const By& by) {
  if constexpr (is_constant<By>) {
    const double v = static_cast<double>(by.op().value);
    const double n = v > 0 ? math::round(1 / (v * v)) : 0;
    if (n > 0 && n < 1e9 && math::fabs(1 / math::sqrt(n) - v) < 1e-6 * v) {
      return " = 1/√" + std::to_string(static_cast<long long>(n));
    }
  }
  return "";
}

// The product under a scale: `scores` holds it unmarked, `scaled` takes it marked raw.
template <class P>
said explained_scaled_operand(const P& p, derivation& d) {
  if constexpr (is_product<P>) {
    if constexpr (marked_t<raw, marks_t<shape_of<P>>>::size == 0) { return explained_product(p, d, "scores"); }
  }
  return explained(p, d);
}

template <class Shape, class E>
inline constexpr bool becomes_score =
    marked_t<score, marks_t<Shape>>::size > marked_t<score, marks_t<shape_of<E>>>::size;
// A product that becomes scores: one step for its scale and its new marks.
template <class N>
inline constexpr bool is_scale_step = false;
template <class Shape, class E>
inline constexpr bool is_scale_step<with_marks<Shape, E>> = is_scaling<E> && becomes_score<Shape, E>;

// The same elements under other marks.
template <class Shape, class E>
said explained_operation(const with_marks<Shape, E>& n, derivation& d) {
  const auto& x = n.template child<0>();
  if constexpr (is_scale_step<with_marks<Shape, E>>) {
    const said product = explained_scaled_operand(x.template child<0>(), d);
    const said by = explained(x.template child<1>(), d);
    step_description s{"scaled", {}, {product, by}, shape_in_words(n)};
    if constexpr (is_constant<element_t<1, children_t<E>>>) {
      s.note = short_number(static_cast<double>(x.template child<1>().op().value)) + as_root(x.template child<1>());
    }
    return d.add("scaled: " + product.reference + " times " + by.reference + as_root(x.template child<1>()),
                 static_cast<step_description&&>(s));
  } else {
    const said inner = explained(x, d);
    const std::string name = becomes_score<Shape, E> ? "unscaled" : (marks_t<Shape>::size == 0 ? "plain" : "marked");
    return d.add(name + ": " + inner.reference + ", the same elements", {name, {}, {inner}, shape_in_words(n)});
  }
}

template <class F>
struct function_in_words {
  static std::string of(const std::vector<said>& x) {
    if constexpr (requires { F::name; }) {
      // A symbol is printed between its operands, a name before them.
      const char first = F::name[0];
      const bool is_word = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
      if (x.size() == 2 && !is_word) { return x[0].reference + " " + F::name + " " + x[1].reference; }
      return std::string(F::name) + " of " + references(x, ", ");
    } else {
      return "map: a function of " + references(x, ", ");
    }
  }
};

// The operands among the children of a node; masks and biases made from positions have names of their own.
template <class N>
std::vector<said> explained_operands(const N& n, derivation& d) {
  std::vector<said> all;
  n.each_child([&](const auto& x) {
    if constexpr (operand<decltype(x)>) { all.push_back(explained(x, d)); }
    if constexpr (is_parts<std::remove_cvref_t<decltype(x)>>) {
      x.each_child([&](const auto& part) { all.push_back(explained(part, d)); });
    }
  });
  return all;
}

template <class N>
std::string leaf_in_words(const N&) {
  using T = value_of<N>;
  std::string elements = "numbers";
  if constexpr (is_id<T>) {
    elements = "ids of " + name_in_words<typename T::dimension_type>();
  } else if constexpr (std::is_same_v<T, bool>) {
    elements = "true and false";
  }
  return (is_tensor<N> ? "a tensor of " : "a view of ") + elements;
}

template <class Shape, class Over, class A, class B>
said explained_operation(const contraction<Shape, Over, A, B>& n, derivation& d) {
  return explained_product(n, d, product_over<Over>::name);
}

template <class T>
said explained_operation(const constant<T>& n, derivation&) {
  return {"the number " + short_number(static_cast<double>(n.op().value)), {}};
}

template <class Shape, class T, class F, class... X>
said explained_operation(const elementwise<Shape, T, F, X...>& n, derivation& d) {
  std::vector<said> x = explained_operands(n, d);
  std::string what = function_in_words<F>::of(x);
  step_description s{"map", {}, static_cast<std::vector<said>&&>(x), shape_in_words(n)};
  what += ", element by element" + repeated_in_words(s);
  if constexpr (is_named<elementwise<Shape, T, F, X...>>) { s.operation = F::name; }
  return d.add(what, static_cast<step_description&&>(s));
}

template <class Shape, class How, class E>
said explained_operation(const restride<Shape, How, E>& n, derivation& d) {
  const said inner = explained(n.template child<0>(), d);
  return d.add(view_in_words<How>::of(n, inner.reference), {How::name, {}, {inner}, shape_in_words(n)});
}

template <class Shape, class T, class M>
said explained_operation(const indicator_node<Shape, T, M>& n, derivation& d) {
  return d.add("indicator by " + mask_in_words(n.template child<0>()),
               {"indicator", {}, {}, shape_in_words(n), mask_in_words(n.template child<0>())});
}

template <class Shape, class E, class M>
said explained_operation(const masked_node<Shape, E, M>& n, derivation& d) {
  const said inner = explained(n.template child<0>(), d);
  return d.add("masked: of " + inner.reference + " only what " + mask_in_words(n.template child<1>()) + " allows",
               {"masked", {}, {inner}, shape_in_words(n), mask_in_words(n.template child<1>())});
}

template <class Shape, class E, class B>
said explained_operation(const position_biased_node<Shape, E, B>& n, derivation& d) {
  const said inner = explained(n.template child<0>(), d);
  return d.add("biased: " + inner.reference + " plus " + bias_in_words(n.template child<1>()),
               {"biased", {}, {inner}, shape_in_words(n), bias_in_words(n.template child<1>())});
}

// All others: the operation's name, the dimensions that it names, its operands.
template <class N>
said explained_operation(const N& n, derivation& d) {
  std::vector<said> operands = explained_operands(n, d);
  const std::string name = operation_of<N>::name;
  std::vector<std::string> over;
  if constexpr (names_dimensions<N>) { over = names_in_list<typename operation_of<N>::over>::get(); }
  std::string what = over.empty() ? name : angle(name, over);
  if (!operands.empty()) { what += " of " + references(operands, " and "); }
  if constexpr (is_roll<N>) { what += ": element 0 becomes element " + std::to_string(n.op().by); }
  // One operand has lost dimensions: a reduction.
  if (operands.size() == 1 && dims_t<shape_of<N>>::size < operands[0].shape.dims.size()) {
    what += ": " + joined_names(over) + " is gone";
  }
  return d.add(what, {name, over, static_cast<std::vector<said>&&>(operands), shape_in_words(n)});
}

template <class N>
said explained(const N& n, derivation& d) {
  if constexpr (expression<N>) {
    return explained_operation(n, d);
  } else {
    return d.add(leaf_in_words(n), {"tensor", {}, {}, shape_in_words(n)});
  }
}

template <operand X>
derivation derivation_of(const X& x) {
  derivation d;
  (void)explained(x, d);
  return d;
}

}  // namespace detail

namespace no_adl {

/// The shape of `x` with its extents and marks: "batch[2] seq[5] d_model[16]".
template <operand X>
[[nodiscard]] std::string describe(const X& x) {
  return detail::in_words(detail::shape_in_words(x));
}

}  // namespace no_adl

}  // namespace dimwise
