// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/explain.hpp -- how the shape of an expression comes about, step by step, in words.
//
// Layer: expr. Reads an expression, computes nothing. A node that this header does not know is called by its class and
// shown with the operands that it holds.
// Tests: tests/expr/explain.test.cpp
//
//   std::cout << explain(softmax<key>(scores<d_k>(q, k)));
//   std::cout << describe(q);                                   // batch[2] heads[8] seq[5] d_k[64]
#pragma once

#include <dimwise/expr/explain_nodes.hpp>
#include <dimwise/expr/reduce.hpp>
#include <dimwise/expr/scores.hpp>

#include <cmath>
#include <string>

namespace dimwise {

namespace detail {

template <class N>
said explained(const N& n, derivation& d);

template <class N>
inline constexpr bool only_marked_otherwise = false;
template <class Shape, class E>
inline constexpr bool only_marked_otherwise<remarked<Shape, E>> = true;

// Nodes are told apart by what they offer, so that a new one needs nothing here unless it wants better words.
template <class T>
concept named = requires { std::string(T::name); };
template <class N>
concept says_over = requires { names_in_list<typename N::over>::get(); };
template <class N>
concept holds_inner = requires(const N& n) { n.inner(); };
template <class N>
concept holds_pair = requires(const N& n) { n.left().extents(), n.right().extents(); };
template <class N>
concept holds_table = requires(const N& n) { n.table().extents(), n.ids().extents(); };
template <class N>
concept holds_several = requires(const N& n) { N::operands::size, n.template get<0>(); };
template <class N>
concept is_product = says_over<N> && holds_pair<N>;
template <class N>
concept is_function_of = holds_several<N> && requires(typename N::function* f) { f; };
template <class N>
concept is_stack = holds_several<N> && requires(typename N::along* d) { d; };
template <class N>
concept is_concat = holds_several<N> && requires(typename N::whole* d) { d; };
template <class N>
concept only_looks_otherwise = holds_inner<N> && requires(const N& n) { n.look(); };
template <class N>
concept goes_over = holds_inner<N> && says_over<N> && named<typename N::how>;
template <class N>
concept goes_by_positions = requires(typename N::positions* p, typename N::features* f) { p, f; };
template <class N>
concept is_skew = requires(typename N::query* q, typename N::relative* r, typename N::key* k) { q, r, k; };
template <class N>
concept hides_some = holds_inner<N> && requires(const N& n) { n.mask(); };

// ---- what each node does --------------------------------------------------------------------------------------------

inline std::string angle(const std::string& operation, const std::vector<std::string>& over) {
  return operation + "<" + joined_names(over) + ">";
}

inline std::string product_in_words(const std::string& operation, const step_words& s) {
  const said& a = s.operands[0];
  const said& b = s.operands[1];
  std::string what =
      (s.over.empty() ? operation : angle(operation, s.over)) + " of " + a.reference + " and " + b.reference;
  if (!s.over.empty()) { what += ": sums over " + joined_names(s.over); }
  const std::string shared = shared_names(a.shape, b.shape, s.over);
  const std::string left = free_names(a.shape, b.shape, s.over);
  const std::string right = free_names(b.shape, a.shape, s.over);
  if (!shared.empty()) { what += "; side by side: " + shared; }
  if (!left.empty()) { what += "; free on the left: " + left; }
  if (!right.empty()) { what += "; free on the right: " + right; }
  for (const dim_words& d : s.result.dims) {
    const std::string output = "out<" + d.name + ">";
    if (has_name(a.shape.dims, output) || has_name(b.shape.dims, output)) {
      what += "; " + output + " takes the place of " + d.name;
    }
  }
  return what;
}

// A contraction that `scores` formed is not raw: its scale stands in the same word.
template <class N>
said explained_product(const N& n, derivation& d, const char* name) {
  const said a = explained(n.left(), d);
  const said b = explained(n.right(), d);
  step_words s{name, names_in_list<typename N::over>::get(), {a, b}, shape_in_words(n)};
  const std::string what = product_in_words(s.operation, s);
  return d.add(what, static_cast<step_words&&>(s));
}

template <class T>
inline constexpr bool is_scaling = false;
template <class S, class T, class P, class By>
inline constexpr bool is_scaling<elementwise<S, T, fn::multiply, P, By>> = true;

// " = 1/√24" for a number that is one over a root.
template <class By>
std::string as_root(const By& by) {
  if constexpr (requires { by.value(); }) {
    const double v = static_cast<double>(by.value());
    const double n = v > 0 ? std::round(1 / (v * v)) : 0;
    if (n > 0 && n < 1e9 && std::fabs(1 / std::sqrt(n) - v) < 1e-6 * v) {
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

template <class N>
said explained_remark(const N& n, derivation& d) {
  using E = typename N::inner_type;
  constexpr bool becomes_score =
      marked_t<score, marks_t<shape_of<N>>>::size > marked_t<score, marks_t<shape_of<E>>>::size;
  if constexpr (becomes_score && is_scaling<E>) {
    const said product = explained_scaled_operand(n.inner().template get<0>(), d);
    const said by = explained(n.inner().template get<1>(), d);
    step_words s{"scaled", {}, {product, by}, shape_in_words(n)};
    return d.add("scaled: " + product.reference + " times " + by.reference + as_root(n.inner().template get<1>()),
                 static_cast<step_words&&>(s));
  } else {
    const said inner = explained(n.inner(), d);
    const std::string name = becomes_score ? "unscaled" : (marks_t<shape_of<N>>::size == 0 ? "plain" : "marked");
    return d.add(name + ": " + inner.reference + ", the same elements", {name, {}, {inner}, shape_in_words(n)});
  }
}

template <class F>
struct function_in_words {
  static std::string of(const std::vector<said>& x) {
    std::vector<std::string> names;
    for (const said& o : x) { names.push_back(o.reference); }
    if constexpr (named<F>) {
      // A symbol stands between its operands, a word before them.
      const char first = F::name[0];
      const bool is_word = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
      if (x.size() == 2 && !is_word) { return x[0].reference + " " + F::name + " " + x[1].reference; }
      return std::string(F::name) + " of " + joined_names(names);
    } else {
      return "map: a function of " + joined_names(names);
    }
  }
};

// The dimensions of the result along which an operand repeats.
inline std::string repeated_in_words(const step_words& s) {
  std::string all;
  for (const said& o : s.operands) {
    if (o.shape.dims.empty()) { continue; }
    const std::string lacks = free_names(s.result, o.shape, {});
    if (!lacks.empty()) { all += "; " + o.reference + " is the same for every " + lacks; }
  }
  return all;
}

template <class N, std::size_t... I>
std::vector<said> explained_operands(const N& n, derivation& d, std::index_sequence<I...>) {
  return {explained(n.template get<I>(), d)...};  // braces: left to right
}

// Operands by the names under which nodes hold them.
template <class N>
std::vector<said> explained_held(const N& n, derivation& d) {
  std::vector<said> all;
  if constexpr (holds_pair<N>) {
    all.push_back(explained(n.left(), d));
    all.push_back(explained(n.right(), d));
  }
  if constexpr (requires { n.inner(); }) { all.push_back(explained(n.inner(), d)); }
  if constexpr (holds_table<N>) {
    all.push_back(explained(n.table(), d));
    all.push_back(explained(n.ids(), d));
  }
  if constexpr (requires { n.bias().extents(); }) { all.push_back(explained(n.bias(), d)); }
  if constexpr (holds_several<N>) { return explained_operands(n, d, std::make_index_sequence<N::operands::size>{}); }
  return all;
}

inline std::string references(const std::vector<said>& x) {
  std::vector<std::string> names;
  for (const said& o : x) { names.push_back(o.reference); }
  return joined_names(names, " and ");
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

// A node that says what it goes over and by which operation.
template <class N>
said explained_how(const N& n, derivation& d) {
  const said inner = explained(n.inner(), d);
  const std::string name = N::how::name;
  const auto over = names_in_list<typename N::over>::get();
  std::string what = angle(name, over) + " of " + inner.reference;
  if (dims_t<shape_of<N>>::size < inner.shape.dims.size()) { what += ": " + joined_names(over) + " is gone"; }
  return d.add(what, {name, over, {inner}, shape_in_words(n)});
}

template <class N>
said explained_other(const N& n, derivation& d) {
  std::vector<said> operands = explained_held(n, d);
  std::string name = class_in_words<N>();
  if constexpr (holds_table<N>) {
    name = "gather<" + name_in_words<typename N::along>() + ">";
  } else if constexpr (is_stack<N>) {
    name = "stack<" + name_in_words<typename N::along>() + ">";
  } else if constexpr (is_concat<N>) {
    name = "concat<" + name_in_words<typename N::whole>() + ">";
  } else if constexpr (goes_by_positions<N>) {
    name += "<" + name_in_words<typename N::positions>() + ", " + name_in_words<typename N::features>() + ">";
  }
  if constexpr (is_skew<N>) {
    name += "<" + name_in_words<typename N::query>() + ", " + name_in_words<typename N::relative>() + ", " +
            name_in_words<typename N::key>() + ">";
  }
  std::string what = name;
  if (!operands.empty()) { what += " of " + references(operands); }
  if constexpr (requires { n.mask(); }) { what = name + " by " + mask_in_words(n.mask()); }
  if constexpr (hides_some<N>) {
    what = "masked: of " + operands[0].reference + " only what " + mask_in_words(n.mask()) + " allows";
  }
  if constexpr (requires { typename N::bias_type::bias_facts; }) {
    name = "biased";
    what = "biased: " + operands[0].reference + " plus " + bias_in_words(n.bias());
  }
  std::vector<std::string> over;
  if constexpr (says_over<N>) { over = names_in_list<typename N::over>::get(); }
  return d.add(what, {name, over, static_cast<std::vector<said>&&>(operands), shape_in_words(n)});
}

template <class N>
said explained(const N& n, derivation& d) {
  if constexpr (!expression<N>) {
    return d.add(leaf_in_words(n), {"tensor", {}, {}, shape_in_words(n)});
  } else if constexpr (requires { n.value(); }) {
    return {"the number " + short_number(static_cast<double>(n.value())), {}};
  } else if constexpr (is_product<N>) {
    return explained_product(n, d, N::over::size == 0 ? "outer" : "contract");
  } else if constexpr (is_function_of<N>) {
    std::vector<said> x = explained_operands(n, d, std::make_index_sequence<N::operands::size>{});
    std::string what = function_in_words<typename N::function>::of(x);
    step_words s{what, {}, static_cast<std::vector<said>&&>(x), shape_in_words(n)};
    what += ", element by element" + repeated_in_words(s);
    if constexpr (named<typename N::function>) {
      s.operation = N::function::name;
    } else {
      s.operation = "map";
    }
    return d.add(what, static_cast<step_words&&>(s));
  } else if constexpr (only_looks_otherwise<N>) {
    const said inner = explained(n.inner(), d);
    return d.add(look_in_words<typename N::how>::of(n, inner.reference),
                 {look_name<N>(), {}, {inner}, shape_in_words(n)});
  } else if constexpr (goes_over<N>) {
    return explained_how(n, d);
  } else if constexpr (only_marked_otherwise<N>) {
    return explained_remark(n, d);
  } else {
    return explained_other(n, d);
  }
}

}  // namespace detail

namespace no_adl {

/// The shape of `x` with its extents and marks: "batch[2] seq[5] d_model[16]".
template <operand X>
[[nodiscard]] std::string describe(const X& x) {
  return detail::in_words(detail::shape_in_words(x));
}

/// The derivation of the shape of `x`, one numbered step for each node: the operation, what it goes over, the shape
/// with its extents, and why a mark was set or ended. Nothing is computed.
template <operand X>
[[nodiscard]] std::string explain(const X& x) {
  detail::derivation d;
  (void)detail::explained(x, d);
  return d.str();
}

}  // namespace no_adl

}  // namespace dimwise
