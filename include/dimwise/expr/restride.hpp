// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/restride.hpp -- new names, another order, other grouping, parts: the same elements, looked at otherwise.
//
// Layer: expr. Nothing here computes; the evaluator changes extents, strides and the first element.
// Tests: tests/expr/restride.test.cpp, tests/compile_fail/restride/
#pragma once

#include <dimwise/expr/node.hpp>
#include <dimwise/shape/rules/index.hpp>
#include <dimwise/shape/rules/restride.hpp>

namespace dimwise {

namespace detail {

// What happens to the axes of an operand; the evaluator has one step for each.
namespace look {
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
// One element of D.
template <class D>
struct at {
  static constexpr const char* name = "at";
  std::size_t index;
};
// Some elements of D, one after the other.
template <class D, class Result>
struct slice {
  static constexpr const char* name = "slice";
  std::size_t first;
};
}  // namespace look

// The slots of a shape where `From` became `To`.
template <class Shape, class From, class To, class Extents>
extents_for<Shape> renamed_extents(const char* operation, const Extents& e) {
  auto result = merge_extents<typename extents_for<Shape>::atoms>(operation, e);
  const extent_t n = e.template extent<From>(operation);
  if constexpr (!is_composite<To> && has_slot<To>) {
    slot made{n, unsaid_origin};
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
    raise<extent_error>(error{} << operation << ": " << dimension_name<From>() << " has extent " << n << " and "
                                << dimension_name<To>() << " has extent " << renamed << " (R3)");
  }
  return result;
}

template <class Verdict, class From, class To, class X>
auto make_rename(const char* operation, const X& x) {
  using shape = typename Verdict::shape;
  return restride<shape, look::rename<From, To>, X>({}, renamed_extents<shape, From, To>(operation, x.extents()), x);
}
template <class Verdict, class How, class X>
auto make_restride(const X& x, How how, const char* operation) {
  using shape = typename Verdict::shape;
  auto e = extents_from<shape>(operation, x.extents());
  check_composites(dims_t<shape>{}, e, operation);
  return restride<shape, How, X>({how}, e, x);
}

}  // namespace detail

namespace no_adl {

/// `From` is called `To`, its prime or `out` or the reverse; marks follow. Refuses other pairs (R3).
template <class From, class To, operand X, class Verdict = rule::rename<From, To, detail::shape_of<X>>>
  requires allowed<Verdict>
[[nodiscard]] auto rename(const X& x) {
  return detail::make_rename<Verdict, From, To>("rename", x);
}
template <class From, class To, operand X, class Verdict = rule::rename<From, To, detail::shape_of<X>>>
  requires refused<Verdict>
Verdict rename(const X& x);

/// `From` is called `To` although they are not related: the visible exception, of the same extent (R3).
template <class From, class To, operand X, class Verdict = rule::relabel<From, To, detail::shape_of<X>>>
  requires allowed<Verdict>
[[nodiscard]] auto relabel(const X& x) {
  return detail::make_rename<Verdict, From, To>("relabel", x);
}
template <class From, class To, operand X, class Verdict = rule::relabel<From, To, detail::shape_of<X>>>
  requires refused<Verdict>
Verdict relabel(const X& x);

/// The same tensor with its dimensions in the order D: memory order changes, meaning does not.
template <class... D, operand X, class Verdict = rule::permute<detail::list<D...>, detail::shape_of<X>>>
  requires allowed<Verdict>
[[nodiscard]] auto permute(const X& x) {
  return detail::make_restride<Verdict>(x, detail::look::regroup{}, "permute");
}
template <class... D, operand X, class Verdict = rule::permute<detail::list<D...>, detail::shape_of<X>>>
  requires refused<Verdict>
Verdict permute(const X& x);

/// merged<Factors…> as its factors: [merged<heads, d_k>] -> [heads, d_k]. Refuses other factors and other orders (R4).
template <class... Factors, operand X, class Verdict = rule::split<detail::shape_of<X>, Factors...>>
  requires(sizeof...(Factors) > 1 && allowed<Verdict>)
[[nodiscard]] auto split(const X& x) {
  return detail::make_restride<Verdict>(x, detail::look::regroup{}, "split");
}
template <class... Factors, operand X, class Verdict = rule::split<detail::shape_of<X>, Factors...>>
  requires(sizeof...(Factors) > 1 && refused<Verdict>)
Verdict split(const X& x);

/// The factors as one dimension, merged<Factors…>, which stands where the first stood: [heads, seq, d_v] ->
/// [merged<heads, d_v>, seq].
template <class... Factors, operand X, class Verdict = rule::merge<detail::shape_of<X>, Factors...>>
  requires(sizeof...(Factors) > 1 && allowed<Verdict>)
[[nodiscard]] auto merge(const X& x) {
  return detail::make_restride<Verdict>(x, detail::look::regroup{}, "merge");
}
template <class... Factors, operand X, class Verdict = rule::merge<detail::shape_of<X>, Factors...>>
  requires(sizeof...(Factors) > 1 && refused<Verdict>)
Verdict merge(const X& x);

/// The part P of a summed dimension: [summed<P, Q>] -> [P] (R14).
template <class P, operand X, class Verdict = rule::part<P, detail::shape_of<X>>>
  requires allowed<Verdict>
[[nodiscard]] auto part(const X& x) {
  using whole = typename detail::sum_with<P, detail::dims_t<detail::shape_of<X>>>::type;
  return detail::make_restride<Verdict>(x, detail::look::part<whole, P>{}, "part");
}
template <class P, operand X, class Verdict = rule::part<P, detail::shape_of<X>>>
  requires refused<Verdict>
Verdict part(const X& x);

/// The elements where A and B are equal; A stays. Throws `extent_error` where their run-time extents differ.
template <class A, class B, operand X, class Verdict = rule::diagonal<A, B, detail::shape_of<X>>>
  requires allowed<Verdict>
[[nodiscard]] auto diagonal(const X& x) {
  if (x.extents().template extent<A>() != x.extents().template extent<B>()) {
    detail::raise<extent_error>(error{} << "diagonal: " << detail::dimension_name<A>() << " has extent "
                                        << x.extents().template extent<A>() << " and " << detail::dimension_name<B>()
                                        << " has extent " << x.extents().template extent<B>() << " (R15)");
  }
  return detail::make_restride<Verdict>(x, detail::look::diagonal<A, B>{}, "diagonal");
}
template <class A, class B, operand X, class Verdict = rule::diagonal<A, B, detail::shape_of<X>>>
  requires refused<Verdict>
Verdict diagonal(const X& x);

/// The same elements for every element of D, which `x` lacks: [rest] -> [D, rest]. Ends `indexed<D>` (R18).
template <class D, operand X, class Verdict = rule::broadcast<D, detail::shape_of<X>>>
  requires allowed<Verdict>
[[nodiscard]] auto broadcast(const X& x, const D& extent = D{}) {
  using shape = typename Verdict::shape;
  detail::extents_of<detail::list<D>> added;
  added.set(extent);
  return detail::restride<shape, detail::look::broadcast, X>(
      {}, detail::extents_from<shape>("broadcast", added, x.extents()), x);
}
template <class D, operand X, class Verdict = rule::broadcast<D, detail::shape_of<X>>>
  requires refused<Verdict>
Verdict broadcast(const X& x, const D& extent = D{});

/// `x` for every element of the dimensions that `like` has and `x` lacks, which come last (R8).
template <operand X, operand Y, class Verdict = rule::broadcast_like<detail::shape_of<X>, detail::shape_of<Y>>>
  requires allowed<Verdict>
[[nodiscard]] auto broadcast_like(const X& x, const Y& like) {
  using shape = typename Verdict::shape;
  return detail::restride<shape, detail::look::broadcast, X>(
      {}, detail::extents_from<shape>("broadcast_like", x.extents(), like.extents()), x);
}
template <operand X, operand Y, class Verdict = rule::broadcast_like<detail::shape_of<X>, detail::shape_of<Y>>>
  requires refused<Verdict>
Verdict broadcast_like(const X& x, const Y& like);

}  // namespace no_adl

namespace detail {

// An element number as it was written, negative ones included.
template <class N>
[[noreturn]] void refuse_place(N i, text dimension, extent_t extent) {
  using shown = std::conditional_t<std::is_signed_v<N>, long long, std::size_t>;
  raise<index_error>(error{} << "at: " << static_cast<shown>(i) << " is outside dimension " << dimension
                             << " of extent " << extent << " (R18)");
}

}  // namespace detail

namespace no_adl {

/// One element of D, which is removed: [D, rest] -> [rest], indexed<D> (R18). Throws `index_error` outside.
template <class D, operand X, class Verdict = rule::at<D, detail::shape_of<X>>>
  requires allowed<Verdict>
[[nodiscard]] auto at(const X& x, id<D> i) {
  const extent_t n = x.extents().template extent<D>();
  if (i.value >= n) { detail::refuse_place(i.value, detail::dimension_name<D>(), n); }
  return detail::make_restride<Verdict>(x, detail::look::at<D>{i.value}, "at");
}
template <class D, operand X, std::integral N, class Verdict = rule::at<D, detail::shape_of<X>>>
  requires allowed<Verdict>
[[nodiscard]] auto at(const X& x, N i) {
  if (std::is_signed_v<N> && i < N{}) {
    detail::refuse_place(i, detail::dimension_name<D>(), x.extents().template extent<D>());
  }
  return at<D>(x, id<D>(static_cast<std::size_t>(i)));
}
template <class D, operand X, class I, class Verdict = rule::at<D, detail::shape_of<X>>>
  requires refused<Verdict>
Verdict at(const X& x, I i);
template <class D, operand X, class Other>
  requires(!std::is_same_v<D, Other>)
ERROR_R18_ids_index_their_own_dimension_only<op::at, over<detail::about_t<D>>, id<Other>,
                                             detail::operand_t<detail::shape_of<X>>>
at(const X& x, id<Other> i);

}  // namespace no_adl

namespace detail {

template <class Verdict, class D, class Result, class X>
auto make_slice(const X& x, std::size_t first, std::size_t count) {
  using shape = typename Verdict::shape;
  const extent_t n = x.extents().template extent<D>("slice");
  if (first > n || count > n - first) {
    const std::size_t last =
        count > static_cast<std::size_t>(-1) - first ? static_cast<std::size_t>(-1) : first + count;
    raise<index_error>(error{} << "slice: elements " << first << " to " << last << " are outside dimension "
                               << dimension_name<D>() << " of extent " << n << " (R18)");
  }
  auto e = extents_from<shape>("slice", extents_beside<shape_of<X>, D>(x.extents()));
  slot made{count, unsaid_origin};
  if constexpr (!is_composite<D>) {
    // Positions go on counting: the first element kept its own.
    made.origin = position_after(x.extents().template of_atom<D>().origin, first, "slice", &dimension_name<D>);
  }
  make_extent<shape, Result>(e, made, "slice");
  if constexpr (has_documents<Result>) { e.template documents<Result>() = segments(); }
  return restride<shape, look::slice<D, Result>, X>({{first}}, e, x);
}

}  // namespace detail

namespace no_adl {

/// Elements first, first + 1, …, `count` of them, of a dimension whose extent is known at run time; they keep their
/// positions.
///
///   slice<seq>(x, 2, 3)      throws `index_error` outside
template <class D, operand X, class Verdict = rule::slice<D, D, detail::shape_of<X>>>
  requires allowed<Verdict>
[[nodiscard]] auto slice(const X& x, std::size_t first, std::size_t count) {
  return detail::make_slice<Verdict, D, D>(x, first, count);
}
/// The rest of them, from `first` on.
template <class D, operand X, class Verdict = rule::slice<D, D, detail::shape_of<X>>>
  requires allowed<Verdict>
[[nodiscard]] auto slice(const X& x, std::size_t first) {
  const extent_t n = x.extents().template extent<D>();
  return detail::make_slice<Verdict, D, D>(x, first, first > n ? 0 : n - first);
}
template <class D, operand X, class... Rest, class Verdict = rule::slice<D, D, detail::shape_of<X>>>
  requires refused<Verdict>
Verdict slice(const X& x, std::size_t first, const Rest&... rest);
/// Elements of a dimension under the name of another, of a static extent: `slice<d_k, rot>(x, 0)`. A slice of a
/// composite is none: it names the plain dimension that it gives, `slice<merged<beam, vocab>, best>(x, 0, 8)` (R18).
template <class D, class Result, operand X, class Verdict = rule::slice<D, Result, detail::shape_of<X>>>
  requires(allowed<Verdict> && Result::static_extent != at_run_time)
[[nodiscard]] auto slice(const X& x, std::size_t first) {
  return detail::make_slice<Verdict, D, Result>(x, first, Result::static_extent);
}
template <class D, class Result, operand X, class Verdict = rule::slice<D, Result, detail::shape_of<X>>>
  requires(allowed<Verdict> && Result::static_extent == at_run_time)
[[nodiscard]] auto slice(const X& x, std::size_t first, std::size_t count) {
  return detail::make_slice<Verdict, D, Result>(x, first, count);
}
/// The rest of them, from `first` on.
template <class D, class Result, operand X, class Verdict = rule::slice<D, Result, detail::shape_of<X>>>
  requires(allowed<Verdict> && Result::static_extent == at_run_time)
[[nodiscard]] auto slice(const X& x, std::size_t first) {
  const extent_t n = x.extents().template extent<D>();
  return detail::make_slice<Verdict, D, Result>(x, first, first > n ? 0 : n - first);
}
template <class D, class Result, operand X, class... Rest, class Verdict = rule::slice<D, Result, detail::shape_of<X>>>
  requires refused<Verdict>
Verdict slice(const X& x, std::size_t first, const Rest&... rest);

}  // namespace no_adl

}  // namespace dimwise
