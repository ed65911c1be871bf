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

#include <dimwise/expr/explain_words.hpp>
#include <dimwise/expr/mask.hpp>
#include <dimwise/expr/reduce.hpp>
#include <dimwise/expr/restride.hpp>
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

// "rotary" for dimwise::detail::rotary_node<…>.
template <class N>
std::string class_in_words() {
  text whole = raw_type_name<N>();
  for (std::size_t i = 0; i < whole.length; ++i) {
    if (whole.begin[i] == '<') { whole.length = i; }
  }
  std::string name = short_name(whole);
  const std::size_t end = name.rfind("_node");
  return end == std::string::npos ? name : name.substr(0, end);
}

// ---- masks ----------------------------------------------------------------------------------------------------------

template <class M>
std::string mask_in_words(const M& m) {
  if constexpr (requires { typename M::how; }) {
    return "(" + mask_in_words(m.left()) + " " + M::how::name + " " + mask_in_words(m.right()) + ")";
  } else if constexpr (requires { m.inner(); }) {
    return "!" + mask_in_words(m.inner());
  } else {
    const std::string dims = joined_names(names_in_list<typename M::facts::dims>::get());
    std::string name = std::string(M::name) + "<" + dims + ">";
    if constexpr (requires { m.elements(); }) { name = "a given mask over " + dims; }
    if constexpr (requires { m.lengths(); }) {
      name = std::string(M::name) + "<" + joined_names(names_in_list<typename M::facts::serves>::get()) + ">";
    }
    if constexpr (requires { m.length(); }) { name += "{" + std::to_string(m.length()) + "}"; }
    if constexpr (requires {
                    m.left();
                    m.right();
                  }) {
      name += "{" + std::to_string(m.left()) + " before, " + std::to_string(m.right()) + " after}";
    }
    return name;
  }
}

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
  if constexpr (requires {
                  typename P::over;
                  p.left();
                  p.right();
                }) {
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
    if constexpr (requires { F::name; }) {
      if (x.size() == 2) { return x[0].reference + " " + F::name + " " + x[1].reference; }
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

template <class D>
struct look_in_words {
  template <class N>
  static std::string of(const N&, const std::string& x) {
    return class_in_words<D>() + " of " + x;
  }
};
template <class From, class To>
struct look_in_words<look::rename<From, To>> {
  template <class N>
  static std::string of(const N&, const std::string& x) {
    const std::string words = x + ": " + name_in_words<From>() + " is called " + name_in_words<To>();
    return related<From, To> ? "rename in " + words : "relabel in " + words + ", though they are not related";
  }
};
template <>
struct look_in_words<look::regroup> {
  template <class N>
  static std::string of(const N&, const std::string& x) {
    constexpr std::size_t before = dims_t<shape_of<typename N::inner_type>>::size;
    constexpr std::size_t after = dims_t<shape_of<N>>::size;
    return (before == after ? "permute " + x + ": another order in memory"
                            : (before < after ? "split " + x + " into the factors of its product"
                                              : "merge dimensions of " + x + " into one product"));
  }
};
template <class Whole, class P>
struct look_in_words<look::part<Whole, P>> {
  template <class N>
  static std::string of(const N&, const std::string& x) {
    return "part " + name_in_words<P>() + " of " + name_in_words<Whole>() + " in " + x;
  }
};
template <class A, class B>
struct look_in_words<look::diagonal<A, B>> {
  template <class N>
  static std::string of(const N&, const std::string& x) {
    return "diagonal of " + x + ": " + name_in_words<A>() + " and " + name_in_words<B>() + " run together";
  }
};
template <>
struct look_in_words<look::broadcast> {
  template <class N>
  static std::string of(const N&, const std::string& x) {
    using added = difference_t<dims_t<shape_of<N>>, dims_t<shape_of<typename N::inner_type>>>;
    return "broadcast " + x + ": the same for every " + joined_names(names_in_list<added>::get());
  }
};
template <class D>
struct look_in_words<look::at<D>> {
  template <class N>
  static std::string of(const N& n, const std::string& x) {
    return "at<" + name_in_words<D>() + "> of " + x + ": element " + std::to_string(n.look().index);
  }
};
template <class D, class Result>
struct look_in_words<look::slice<D, Result>> {
  template <class N>
  static std::string of(const N& n, const std::string& x) {
    const std::size_t first = n.look().first;
    const std::size_t count = n.extents().template extent<Result>();
    std::string words = "slice<" + name_in_words<D>() + "> of " + x + ": " + std::to_string(count) + " elements from " +
                        std::to_string(first);
    if (!std::is_same_v<D, Result>) { words += ", called " + name_in_words<Result>(); }
    return words;
  }
};
template <class N>
std::string look_name() {
  if constexpr (requires { N::how::name; }) {
    return N::how::name;
  } else {
    return class_in_words<typename N::how>();
  }
}

// Operands by the names under which nodes hold them.
template <class N>
std::vector<said> explained_held(const N& n, derivation& d) {
  std::vector<said> all;
  if constexpr (requires {
                  n.left();
                  n.right();
                }) {
    all.push_back(explained(n.left(), d));
    all.push_back(explained(n.right(), d));
  }
  if constexpr (requires { n.inner(); }) { all.push_back(explained(n.inner(), d)); }
  if constexpr (requires {
                  n.table();
                  n.ids();
                }) {
    all.push_back(explained(n.table(), d));
    all.push_back(explained(n.ids(), d));
  }
  if constexpr (requires { n.bias(); }) { all.push_back(explained(n.bias(), d)); }
  if constexpr (requires {
                  typename N::operands;
                  n.template get<0>();
                }) {
    return explained_operands(n, d, std::make_index_sequence<N::operands::size>{});
  }
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
  if constexpr (requires {
                  typename N::along;
                  n.table();
                }) {
    name = "gather<" + name_in_words<typename N::along>() + ">";
  } else if constexpr (requires {
                         typename N::along;
                         typename N::operands;
                       }) {
    name = "stack<" + name_in_words<typename N::along>() + ">";
  } else if constexpr (requires {
                         typename N::whole;
                         typename N::parts;
                       }) {
    name = "concat<" + name_in_words<typename N::whole>() + ">";
  } else if constexpr (requires {
                         typename N::positions;
                         typename N::features;
                       }) {
    name += "<" + name_in_words<typename N::positions>() + ", " + name_in_words<typename N::features>() + ">";
  }
  std::string what = name;
  if (!operands.empty()) { what += " of " + references(operands); }
  if constexpr (requires { n.mask(); }) { what = name + " by " + mask_in_words(n.mask()); }
  if constexpr (requires {
                  n.mask();
                  n.inner();
                }) {
    what = "masked: of " + operands[0].reference + " only what " + mask_in_words(n.mask()) + " allows";
  }
  std::vector<std::string> over;
  if constexpr (requires {
                  typename N::over;
                  names_in_list<typename N::over>::get();
                }) {
    over = names_in_list<typename N::over>::get();
  }
  return d.add(what, {name, over, static_cast<std::vector<said>&&>(operands), shape_in_words(n)});
}

template <class N>
said explained(const N& n, derivation& d) {
  if constexpr (!expression<N>) {
    return d.add(leaf_in_words(n), {"tensor", {}, {}, shape_in_words(n)});
  } else if constexpr (requires { n.value(); }) {
    return {"the number " + short_number(static_cast<double>(n.value())), {}};
  } else if constexpr (requires {
                         typename N::over;
                         n.left();
                         n.right();
                       }) {
    return explained_product(n, d, N::over::size == 0 ? "outer" : "contract");
  } else if constexpr (requires {
                         typename N::function;
                         typename N::operands;
                       }) {
    std::vector<said> x = explained_operands(n, d, std::make_index_sequence<N::operands::size>{});
    std::string what = function_in_words<typename N::function>::of(x);
    step_words s{what, {}, static_cast<std::vector<said>&&>(x), shape_in_words(n)};
    what += ", element by element" + repeated_in_words(s);
    if constexpr (requires { N::function::name; }) {
      s.operation = N::function::name;
    } else {
      s.operation = "map";
    }
    return d.add(what, static_cast<step_words&&>(s));
  } else if constexpr (requires {
                         n.look();
                         n.inner();
                         typename N::how;
                       }) {
    const said inner = explained(n.inner(), d);
    return d.add(look_in_words<typename N::how>::of(n, inner.reference),
                 {look_name<N>(), {}, {inner}, shape_in_words(n)});
  } else if constexpr (requires {
                         N::how::name;
                         typename N::over;
                         n.inner();
                       }) {
    return explained_how(n, d);
  } else if constexpr (only_marked_otherwise<N>) {
    return explained_remark(n, d);
  } else {
    return explained_other(n, d);
  }
}

}  // namespace detail

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

}  // namespace dimwise
