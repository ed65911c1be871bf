// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/rearrange/take.hpp -- at and slice: one element of a dimension, or some of them.
//
// Layer: expr. Nothing here computes; the evaluator changes extents, strides and the first element.
// Tests: tests/expr/rearrange/restride.test.cpp, tests/compile_fail/index/
//
//   at<seq>(x, 3)            [seq, d_model]  ->  [d_model], indexed<seq>
//   slice<seq>(x, 2, 3)      [seq, d_model]  ->  [seq, d_model]
#pragma once

#include <dimwise/expr/rearrange/restride.hpp>
#include <dimwise/shape/rules/index.hpp>

#include <concepts>

namespace dimwise {

namespace detail {

namespace views {
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
}  // namespace views

// An element number as it was written, negative ones included.
[[noreturn]] inline void refuse_place(const char* operation, given_count i, text dimension, extent_t extent) {
  error e;
  e << operation << ": ";
  if (i.is_negative()) {
    e << static_cast<long long>(i.count());
  } else {
    e << i.count();
  }
  raise<index_error>(e << " is outside dimension " << dimension << " of extent " << extent << " (R18)");
}
// The number of an element of D, given as a whole number or as an id.
template <class D, class Place>
std::size_t place_number(const char* operation, const Place& place, extent_t extent) {
  if constexpr (std::is_integral_v<Place>) {
    const given_count i = place;
    if (i.is_negative()) { refuse_place(operation, i, dimension_name<D>(), extent); }
    return i.count();
  } else {
    return place.value;
  }
}

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
  slot made{count, unknown_origin};
  if constexpr (!is_composite<D>) {
    // Positions go on counting: the first element kept its own.
    made.origin = first_after<D>(x.extents().template of_atom<D>().origin, first, "slice");
  }
  make_extent<shape, Result>(e, made, "slice");
  if constexpr (has_documents<Result>) { e.template documents<Result>() = segments(); }
  return restride<shape, views::slice<D, Result>, X>({{first}}, e, x);
}

// ---- the calls ------------------------------------------------------------------------------------------------------

namespace calls {

struct at {
  template <class... D, operand X>
  static auto judge(list<D...>, const X&) -> argument_missing<op::at, list<D...>, X, argument::element>;
  template <class D, operand X, std::integral N>
  static auto judge(list<D>, const X&, N) -> rule::at<D, shape_of<X>>;
  template <class Named, operand X, class D>
    requires begins<Named, list<D>>
  static auto judge(Named, const X&, const id<D>&) -> rule::at<D, shape_of<X>>;
  template <class D, operand X, class Other>
    requires(!std::is_same_v<D, Other>)
  static auto judge(list<D>, const X&, const id<Other>&)
      -> ERROR_R18_ids_index_their_own_dimension_only<op::at, over<about_t<D>>, id<Other>, operand_t<shape_of<X>>>;
  template <class Verdict, class Named, operand X, class D>
  static auto make(Named, const X& x, const id<D>& i) {
    const extent_t n = x.extents().template extent<D>();
    if (i.value >= n) { refuse_place("at", i.value, dimension_name<D>(), n); }
    return make_restride<Verdict>(x, views::at<D>{i.value}, "at");
  }
  template <class Verdict, class D, operand X, std::integral N>
  static auto make(list<D> named, const X& x, N i) {
    return make<Verdict>(named, x, id<D>(place_number<D>("at", i, x.extents().template extent<D>())));
  }
};

// `slice<D>` keeps the name, `slice<D, Result>` gives another. Of a static result the first element says which ones.
struct slice {
  template <class D, class... Result>
  using result_t = element_t<sizeof...(Result), list<D, Result...>>;
  template <class D, class... Result>
  static constexpr std::size_t numbers =
      std::is_same_v<D, result_t<D, Result...>> || result_t<D, Result...>::static_extent == at_run_time ? 2 : 1;

  template <class D, class... Result, operand X, std::integral... N>
    requires(sizeof...(Result) < 2 && sizeof...(N) > 0 && sizeof...(N) <= numbers<D, Result...>)
  static auto judge(list<D, Result...>, const X&, const N&...) -> rule::slice<D, result_t<D, Result...>, shape_of<X>>;
  template <class Verdict, class D, class... Result, operand X, class Place, class... N>
  static auto make(list<D, Result...>, const X& x, Place place, const N&... given) {
    using result = result_t<D, Result...>;
    const extent_t n = x.extents().template extent<D>();
    const std::size_t first = place_number<D>("slice", place, n);
    const extent_t rest = result::static_extent != at_run_time ? result::static_extent : (first > n ? 0 : n - first);
    const given_count counts[] = {given..., rest};
    return make_slice<Verdict, D, result>(x, first, counts[0].checked("slice"));
  }
};

}  // namespace calls

}  // namespace detail

namespace no_adl {

/// One element of D, which is removed: [D, rest] -> [rest], indexed<D> (R18). `at<D>(x, i)`, `i` a whole number or an
/// `id<D>`. Throws `index_error` outside.
DIMWISE_DETAIL_OPERATION(at)

/// Elements of a dimension, from one of them on; they keep their positions. Throws `index_error` outside.
///
///   slice<D>(x, first, count), slice<D>(x, first):          [D, rest]  ->  [D, rest]       of a run-time extent
///   slice<D, R>(x, first, count), slice<D, R>(x, first):    [D, rest]  ->  [R, rest]
///
/// Without a count it is the rest of them, or as many as an R of a static extent has: `slice<d_k, rot>(x, 0)`. A slice
/// of a composite is none: it names the plain dimension that it gives, `slice<merged<beam, vocab>, best>(x, 0, 8)`
/// (R18).
DIMWISE_DETAIL_OPERATION(slice)

}  // namespace no_adl

}  // namespace dimwise
