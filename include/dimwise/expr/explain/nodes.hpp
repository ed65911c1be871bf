// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/explain/nodes.hpp -- masks, position biases, and what only looks otherwise at its operand, in words.
//
// Layer: expr.
// Tests: tests/viz/explain.test.cpp
#pragma once

#include <dimwise/expr/explain/shapes.hpp>
#include <dimwise/expr/masks/mask.hpp>
#include <dimwise/expr/rearrange/take.hpp>

namespace dimwise::detail {

// ---- masks and biases ----------------------------------------------------------------------------------------------

template <class M>
std::string mask_in_words(const M& m) {
  if constexpr (requires { typename M::how; }) {
    return "(" + mask_in_words(m.left()) + " " + M::how::name + " " + mask_in_words(m.right()) + ")";
  } else if constexpr (is_whole_rows<M>) {
    return "whole rows of " + mask_in_words(m.inner());
  } else if constexpr (is_mask_in_sum<M>) {
    return mask_in_words(m.inner()) + " of the part " + names_in_list<list<typename M::part>>::get()[0];
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
    if constexpr (requires { m.left() + m.right(); }) {
      const auto limit = [](std::ptrdiff_t n) { return n < 0 ? std::string("all") : std::to_string(n); };
      name += "{" + limit(m.left()) + " before, " + limit(m.right()) + " after}";
    }
    return name;
  }
}

// A bias made from positions; a table that it holds is described by its shape.
template <class B>
std::string bias_in_words(const B& b) {
  std::string words =
      std::string(B::name) + "<" + joined_names(names_in_list<typename B::bias_facts::dims>::get()) + ">";
  if constexpr (requires { b.table(); }) { words += " from a table of " + in_words(shape_in_words(b.table())); }
  return words;
}

// ---- names, order, parts --------------------------------------------------------------------------------------------

template <class D>
struct view_in_words {
  template <class N>
  static std::string of(const N&, const std::string& x) {
    return std::string(D::name) + " of " + x;
  }
};
template <class From, class To>
struct view_in_words<views::rename<From, To>> {
  template <class N>
  static std::string of(const N&, const std::string& x) {
    const std::string words = x + ": " + name_in_words<From>() + " is called " + name_in_words<To>();
    return related<From, To> ? "rename in " + words : "relabel in " + words + ", though they are not related";
  }
};
template <>
struct view_in_words<views::regroup> {
  template <class N>
  static std::string of(const N&, const std::string& x) {
    constexpr std::size_t before = dims_t<shape_of<child_t<N>>>::size;
    constexpr std::size_t after = dims_t<shape_of<N>>::size;
    return (before == after ? "permute " + x + ": another order in memory"
                            : (before < after ? "split " + x + " into the factors of its product"
                                              : "merge dimensions of " + x + " into one product"));
  }
};
template <class Whole, class P>
struct view_in_words<views::part<Whole, P>> {
  template <class N>
  static std::string of(const N&, const std::string& x) {
    return "part " + name_in_words<P>() + " of " + name_in_words<Whole>() + " in " + x;
  }
};
template <class A, class B>
struct view_in_words<views::diagonal<A, B>> {
  template <class N>
  static std::string of(const N&, const std::string& x) {
    return "diagonal of " + x + ": " + name_in_words<A>() + " and " + name_in_words<B>() + " run together";
  }
};
template <>
struct view_in_words<views::broadcast> {
  template <class N>
  static std::string of(const N&, const std::string& x) {
    using added = difference_t<dims_t<shape_of<N>>, dims_t<shape_of<child_t<N>>>>;
    return "broadcast " + x + ": the same for every " + joined_names(names_in_list<added>::get());
  }
};
template <class D>
struct view_in_words<views::at<D>> {
  template <class N>
  static std::string of(const N& n, const std::string& x) {
    return "at<" + name_in_words<D>() + "> of " + x + ": element " + std::to_string(n.op().how.index);
  }
};
template <class D, class Result>
struct view_in_words<views::slice<D, Result>> {
  template <class N>
  static std::string of(const N& n, const std::string& x) {
    const std::size_t first = n.op().how.first;
    const std::size_t count = n.extents().template extent<Result>();
    std::string words = "slice<" + name_in_words<D>() + "> of " + x + ": " + std::to_string(count) + " elements from " +
                        std::to_string(first);
    if (!std::is_same_v<D, Result>) { words += ", called " + name_in_words<Result>(); }
    return words;
  }
};
// Windows: unroll<D, W>, pool<D, W>, and the name of what counts them.
template <template <class, class, class> class Windows, class D, class W, class Result>
struct view_in_words<Windows<D, W, Result>> {
  template <class N>
  static std::string of(const N&, const std::string& x) {
    std::string words =
        std::string(Windows<D, W, Result>::name) + "<" + name_in_words<D>() + ", " + name_in_words<W>() + "> of " + x;
    if (!std::is_same_v<D, Result>) { words += ", whose windows are counted by " + name_in_words<Result>(); }
    return words;
  }
};
template <class D, class W, class Result, std::size_t By>
struct view_in_words<views::unroll_by<D, W, Result, By>> {
  template <class N>
  static std::string of(const N& n, const std::string& x) {
    return view_in_words<views::unroll<D, W, Result>>::of(n, x) + ", one every " + std::to_string(By) + " elements";
  }
};
}  // namespace dimwise::detail
