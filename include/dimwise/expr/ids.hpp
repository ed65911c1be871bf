// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/ids.hpp -- ids_of, one_hot, scatter_add: all ids of a dimension, ids as indicators, the adjoint of
// gather.
//
// Layer: expr.
//
//   scatter_add<vocab>(gradient, tokens, vocab{n})        [batch, seq, d_model] x ids [batch, seq]  ->  [vocab, d_model]
//
// Tests: tests/expr/ids.test.cpp, tests/compile_fail/index/
#pragma once

#include <dimwise/expr/contract.hpp>
#include <dimwise/expr/join.hpp>
#include <dimwise/expr/mask.hpp>
#include <dimwise/shape/rules/reorder.hpp>

namespace dimwise {

namespace detail {

// 0, 1, 2, … as ids of D.
template <class D>
struct all_ids {
  static constexpr const char* name = "ids_of";
  using over = list<D>;
};
template <class Shape, class D>
using ids_node = node<all_ids<D>, Shape, id<D>>;

// 1 where D has the id, else 0.
template <class D>
struct one_hot_along {
  static constexpr const char* name = "one_hot";
  using over = list<D>;
};
template <class Shape, class T, class D, class Ids>
using one_hot_node = node<one_hot_along<D>, Shape, T, Ids>;

// Values added up where their ids say.
template <class D>
struct scatter_along {
  static constexpr const char* name = "scatter_add";
  using over = list<D>;
};
template <class Shape, class D, class Values, class Ids>
using scatter_add_node = node<scatter_along<D>, Shape, value_of<Values>, Values, Ids>;

template <class D, class... Given>
using extents_given_once = ERROR_R15_run_time_extents_are_given_once<over<about_t<D>>, over<Given...>>;
template <class D, class... Given>
inline constexpr bool gives_extent_of = gives_extents<shape<D>, Given...>;

template <class D, class Along, class Values, class Ids>
using scatter_add_verdict =
    of_numbers<op::scatter_add, rule::scatter_add<D, indexed_by_t<Ids>, Along, shape_of<Values>, shape_of<Ids>>,
               Values>;

template <class D, class Along, class Verdict, class Values, class Ids, class... Given>
auto make_scatter_add(const Values& values, const Ids& ids, const Given&... extents) {
  using shape = typename Verdict::shape;
  (void)merge_extents<both_atoms_t<Values, Ids>>("scatter_add", values.extents(), ids.extents());
  using rest = difference_t<dims_t<shape_of<Values>>, difference_t<dims_t<shape_of<Ids>>, Along>>;
  auto e = extents_from<shape>("scatter_add", one_extent(extents)...,
                               merge_extents<atoms_of_list_t<rest>>("scatter_add", values.extents()));
  return scatter_add_node<shape, D, Values, Ids>({}, e, values, ids);
}

}  // namespace detail

namespace no_adl {

/// All ids of D, as a tensor of `id<D>` over D: 0, 1, 2, … Run-time extents are given, those of a composite's factors
/// or parts too (R15).
///
///   ids_of<vocab>(vocab{n})  ->  [vocab], elements id<vocab>
template <class D, dimension_type... Given>
  requires(dimension_type<D> && detail::gives_extent_of<D, Given...>)
[[nodiscard]] auto ids_of(const Given&... extents) {
  auto e =
      detail::extents_from<shape<D>>("ids_of", detail::extents_of<detail::list<>>{}, detail::one_extent(extents)...);
  return detail::ids_node<shape<D>, D>({}, e);
}
template <class D, class... Given, class Error = detail::extents_given_once<D, Given...>>
  requires(!(dimension_type<Given> && ...) || !detail::gives_extent_of<D, Given...>)
Error ids_of(const Given&... extents);

/// Ids as indicators: 1 where D has the id and 0 elsewhere, of the element type T.
///
///   one_hot<D>(ids):  ids [i]  ->  [i, D]
///
/// A run-time extent of D is given behind the ids (R15). Only ids of D have a place in D (R18); an id outside throws
/// `index_error` when evaluated.
template <class D, class T = float, operand Ids, dimension_type... Given,
          class Verdict = rule::one_hot<D, detail::indexed_by_t<Ids>, detail::shape_of<Ids>>>
  requires(allowed<Verdict> && std::is_arithmetic_v<T> && detail::gives_extent_of<D, Given...>)
[[nodiscard]] auto one_hot(const Ids& ids, const Given&... extents) {
  using shape = typename Verdict::shape;
  auto e = detail::extents_from<shape>("one_hot", ids.extents(), detail::one_extent(extents)...);
  return detail::one_hot_node<shape, T, D, Ids>({}, e, ids);
}
template <class D, class T = float, operand Ids, dimension_type... Given,
          class Verdict = rule::one_hot<D, detail::indexed_by_t<Ids>, detail::shape_of<Ids>>>
  requires refused<Verdict>
Verdict one_hot(const Ids& ids, const Given&... extents);
template <class D, class T = float, operand Ids, dimension_type... Given,
          class Verdict = rule::one_hot<D, detail::indexed_by_t<Ids>, detail::shape_of<Ids>>,
          class Error = detail::extents_given_once<D, Given...>>
  requires(allowed<Verdict> && !detail::gives_extent_of<D, Given...>)
Error one_hot(const Ids& ids, const Given&... extents);

/// The values added up where their ids say, 0 where none does: the adjoint of `gather`, in the order of the ids.
///
///   scatter_add<D>(values, ids):                   [i, rest] x ids [i]     ->  [D, rest]
///   scatter_add<D>(values, ids, along<s>{}):       [i, s, rest] x ids [i, s]  ->  [D, s, rest]
///
/// All dimensions of the ids are summed over but those named by `along`, and the values have them all (R1). A run-time
/// extent of D is given last (R15). Refuses ids of another dimension (R18) and what is masked (R7); an id outside
/// throws `index_error` when evaluated, and nothing is written.
template <class D, operand Values, operand Ids, dimension_type... Given,
          class Verdict = detail::scatter_add_verdict<D, detail::list<>, Values, Ids>>
  requires(allowed<Verdict> && detail::gives_extent_of<D, Given...>)
[[nodiscard]] auto scatter_add(const Values& values, const Ids& ids, const Given&... extents) {
  return detail::make_scatter_add<D, detail::list<>, Verdict>(values, ids, extents...);
}
template <class D, operand Values, operand Ids, class... S, dimension_type... Given,
          class Verdict = detail::scatter_add_verdict<D, detail::list<S...>, Values, Ids>>
  requires(allowed<Verdict> && detail::gives_extent_of<D, Given...>)
[[nodiscard]] auto scatter_add(const Values& values, const Ids& ids, along<S...>, const Given&... extents) {
  return detail::make_scatter_add<D, detail::list<S...>, Verdict>(values, ids, extents...);
}
template <class D, operand Values, operand Ids, dimension_type... Given,
          class Verdict = detail::scatter_add_verdict<D, detail::list<>, Values, Ids>>
  requires refused<Verdict>
Verdict scatter_add(const Values& values, const Ids& ids, const Given&... extents);
template <class D, operand Values, operand Ids, class... S, dimension_type... Given,
          class Verdict = detail::scatter_add_verdict<D, detail::list<S...>, Values, Ids>>
  requires refused<Verdict>
Verdict scatter_add(const Values& values, const Ids& ids, along<S...>, const Given&... extents);
template <class D, operand Values, operand Ids, dimension_type... Given,
          class Verdict = detail::scatter_add_verdict<D, detail::list<>, Values, Ids>,
          class Error = detail::extents_given_once<D, Given...>>
  requires(allowed<Verdict> && !detail::gives_extent_of<D, Given...>)
Error scatter_add(const Values& values, const Ids& ids, const Given&... extents);
template <class D, operand Values, operand Ids, class... S, dimension_type... Given,
          class Verdict = detail::scatter_add_verdict<D, detail::list<S...>, Values, Ids>,
          class Error = detail::extents_given_once<D, Given...>>
  requires(allowed<Verdict> && !detail::gives_extent_of<D, Given...>)
Error scatter_add(const Values& values, const Ids& ids, along<S...>, const Given&... extents);

}  // namespace no_adl

}  // namespace dimwise
