// SPDX-License-Identifier: BSL-1.0
// dimwise/expr/rearrange/ids.hpp -- ids_of, one_hot, scatter_add: all ids of a dimension, ids as indicators, the
// adjoint of gather.
//
// Layer: expr.
//
//   scatter_add<vocab, batch, seq>(gradient, tokens, vocab{n})
//                                             [batch, seq, d_model] x ids [batch, seq]  ->  [vocab, d_model]
//
// Tests: tests/expr/rearrange/ids.test.cpp, tests/compile_fail/index/
#pragma once

#include <dimwise/expr/products/contract.hpp>
#include <dimwise/expr/rearrange/join.hpp>
#include <dimwise/shape/rules/reorder.hpp>

namespace dimwise {

namespace detail {

// 0, 1, 2, … as ids of D.
DIMWISE_DETAIL_ALONG(all_ids, "ids_of")
template <class Shape, class D>
using ids_node = node<all_ids<D>, Shape, id<D>>;

// 1 where D has the id, else 0.
DIMWISE_DETAIL_ALONG(one_hot_along, "one_hot")
template <class Shape, class T, class D, class Ids>
using one_hot_node = node<one_hot_along<D>, Shape, T, Ids>;

// Values added up where their ids say.
DIMWISE_DETAIL_ALONG(scatter_along, "scatter_add")
template <class Shape, class D, class Values, class Ids>
using scatter_add_node = node<scatter_along<D>, Shape, value_of<Values>, Values, Ids>;

template <class D, class... Given>
inline constexpr bool gives_extent_of = gives_extents<shape<D>, Given...>;

// The verdict on an operation that makes the dimension D: its run-time extent is given.
template <class Op, class Verdict, class D, class... Given>
consteval auto judge_extent_of() {
  if constexpr (refused<Verdict>) {
    return answer<Verdict>{};
  } else if constexpr (gives_extent_of<D, Given...>) {
    return answer<Verdict>{};
  } else {
    return answer<extents_given_once<Op, D, Given...>>{};
  }
}
template <class Op, class Verdict, class D, class... Given>
using with_extent_of = typename decltype(judge_extent_of<Op, Verdict, D, Given...>())::type;

// ---- the calls ------------------------------------------------------------------------------------------------------

namespace calls {

struct ids_of {
  template <dimension_type D, dimension_type... Given>
    requires(gives_extent_of<D, Given...>)
  static auto judge(list<D>, const Given&...) -> accepted<shape<D>>;
  template <class D, class... Given>
  static auto judge(list<D>, const Given&...) -> extents_given_once<op::ids_of, D, Given...>;
  template <class Verdict, class D, class... Given>
  static auto make(list<D>, const Given&... extents) {
    return ids_node<shape<D>, D>({}, extents_from<shape<D>>("ids_of", extents_of<list<>>{}, one_extent(extents)...));
  }
};
// `one_hot<D>` gives floats, `one_hot<D, T>` elements of the type T.
struct one_hot {
  template <class D, class... T, operand Ids, extent_or_number... Given>
    requires(sizeof...(T) < 2 && (std::is_arithmetic_v<T> && ...))
  static auto judge(list<D, T...>, const Ids&, const Given&...)
      -> with_extent_of<op::one_hot, rule::one_hot<D, indexed_by_t<Ids>, shape_of<Ids>>, D, Given...>;
  template <class Verdict, class D, class... T, operand Ids, dimension_type... Given>
  static auto make(list<D, T...>, const Ids& ids, const Given&... extents) {
    using shape = typename Verdict::shape;
    return one_hot_node<shape, first_t<list<T..., float>>, D, Ids>(
        {}, extents_from<shape>("one_hot", ids.extents(), one_extent(extents)...), ids);
  }
};
struct scatter_add {
  template <class... D, operand X>
  static auto judge(list<D...>, const X&) -> argument_missing<op::scatter_add, list<D...>, X, argument::values>;
  template <class D, class... Summed, operand Values, operand Ids, extent_or_number... Given>
  static auto judge(list<D, Summed...>, const Values&, const Ids&, const Given&...) -> with_extent_of<
      op::scatter_add,
      of_numbers<op::scatter_add,
                 rule::scatter_add<D, indexed_by_t<Ids>, list<Summed...>, shape_of<Values>, shape_of<Ids>>, Values>,
      D, Given...>;
  template <class Verdict, class D, class... Summed, operand Values, operand Ids, dimension_type... Given>
  static auto make(list<D, Summed...>, const Values& values, const Ids& ids, const Given&... extents) {
    using shape = typename Verdict::shape;
    (void)merge_extents<both_atoms_t<Values, Ids>>("scatter_add", values.extents(), ids.extents());
    using rest = difference_t<dims_t<shape>, list<D>>;
    auto e = extents_from<shape>("scatter_add", one_extent(extents)...,
                                 merge_extents<atoms_of_list_t<rest>>("scatter_add", values.extents()));
    return scatter_add_node<shape, D, Values, Ids>({}, e, values, ids);
  }
};

}  // namespace calls

}  // namespace detail

namespace no_adl {

/// All ids of D, as a tensor of `id<D>` over D: 0, 1, 2, … Run-time extents are given, those of a composite's factors
/// or parts too (R15).
///
///   ids_of<vocab>(vocab{n})  ->  [vocab], elements id<vocab>
DIMWISE_DETAIL_JUDGED(ids_of)

/// Ids as indicators: 1 where D has the id and 0 elsewhere, of the element type T (float if not said).
///
///   one_hot<D>(ids), one_hot<D, T>(ids):  ids [i]  ->  [i, D]
///
/// A run-time extent of D is given after the ids (R15). Only ids of D have a place in D (R18); an id outside throws
/// `index_error` when evaluated.
DIMWISE_DETAIL_OPERATION(one_hot)

/// The values added up where their ids say, 0 where none does: the adjoint of `gather`, in the order of the ids.
///
///   scatter_add<D, s>(values, ids):  [i, s, rest] x ids [i, s]  ->  [D, i, rest]
///   scatter_add<D>(values, ids):     [i, rest] x ids [i]        ->  [D, i, rest]
///
/// Sums over the named dimensions s of the ids, and over D where the ids have it; the others are kept, as `gather`
/// keeps them. The values have all dimensions of the ids (R1). A run-time extent of D is given last (R15). Rejects ids
/// of another dimension (R18) and what is masked (R7); an id outside throws `index_error` when evaluated, and nothing
/// is written.
DIMWISE_DETAIL_OPERATION(scatter_add)

}  // namespace no_adl

}  // namespace dimwise
