// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/rules/collectives.hpp -- the rules of collectives: which shards and partial sums they take and give.
//
// Layer: shape. Knows mesh axes, and no ranks.
//
//   all_reduce<M>:            [rest], partial<M>     ->  [rest]
//   reduce_scatter<M, D>:     [D, rest], partial<M>  ->  [shard<D, M>, rest]
//   all_gather<M, D>:         [shard<D, M>, rest]    ->  [D, rest]
//   all_to_all<M, From, To>:  [shard<From, M>, To]   ->  [From, shard<To, M>]
//   broadcast_from<M>:        [rest]                 ->  [rest]
//   permute_ranks<M>:         [shard<D, M>, rest]    ->  [shard<D, M>, rest]
//   ring_attention<Key>:      [Q, Key] x [Key, V]    ->  [Q, V], Key a shard
//
// R4, R17, R23, R24, R25.
// Tests: tests/shape/rules/collectives.test.cpp, tests/compile_fail/collectives/
#pragma once

#include <dimwise/shape/rules/contract.hpp>
#include <dimwise/shape/rules/placed.hpp>
#include <dimwise/shape/rules/reduce.hpp>
#include <dimwise/shape/rules/restride.hpp>

namespace dimwise {

// Collectives have no row in the table of marks: these rules say all.
namespace op {
struct all_reduce;
struct reduce_scatter;
struct all_gather;
struct all_to_all;
struct broadcast_from;
struct permute_ranks;
struct ring_attention;
struct whole;  // of ranks::gathered_parts
}  // namespace op

namespace detail {

template <class M, class Shape>
inline constexpr bool is_partial_along = is_in<M, partials_t<Shape>>;
template <class M, class Shape>
inline constexpr bool is_divided_along = is_in<M, mesh_axes_of_list_t<dims_t<Shape>>>;

// The shard of D along M among the dimensions of a shape; void if there is none.
template <class M, class D, class Dims>
struct shard_in {
  using type = void;
};
template <class M, class D, class First, class... Rest>
struct shard_in<M, D, list<First, Rest...>> : shard_in<M, D, list<Rest...>> {};
template <class M, class D, class First, class... Rest>
  requires(std::is_same_v<typename First::shard_of, D> && std::is_same_v<typename First::shard_along, M>)
struct shard_in<M, D, list<First, Rest...>> {
  using type = First;
};
template <class M, class D, class Shape>
using shard_in_t = typename shard_in<M, D, dims_t<Shape>>::type;

template <class M, class Marks>
struct without_partial_along;
template <class M, class... Mark>
struct without_partial_along<M, list<Mark...>> {
  using type = join_t<list<>, list_if<!std::is_same_v<Mark, partial<M>>, Mark>...>;
};

// A dimension under another name, in the dimensions and in the marks.
template <class From, class To, class Shape>
using exchanged_t =
    make_shape_t<replace_t<dims_t<Shape>, From, list<To>>, typename rename_marks<marks_t<Shape>, From, To>::type>;

template <class Op, class M, class Shape>
using nothing_to_reduce = ERROR_R23_operand_is_no_partial_sum<Op, over<M>, operand_t<Shape>>;
template <class Op, class Over, class Shape>
using nothing_to_gather = ERROR_R24_operand_has_no_such_shard<Op, over_t<Over>, operand_t<Shape>>;

// The result, unless a dimension or a mesh axis would occur twice in it.
template <class Op, class M, class Result, class Shape>
consteval auto judge_exchanged() {
  if constexpr (!all_distinct(axes_of_list_t<dims_t<Result>>{})) {
    return answer<ERROR_R17_dimension_occurs_twice<Op, over<M>, operand_t<Shape>>>{};
  } else if constexpr (!meshes_once<Result>) {
    return answer<ERROR_R25_mesh_axis_occurs_twice<Op, over<M>, operand_t<Shape>>>{};
  } else {
    return answer<accepted<Result>>{};
  }
}

template <class M, class Shape>
consteval auto judge_all_reduce() {
  if constexpr (!is_partial_along<M, Shape>) {
    return answer<nothing_to_reduce<op::all_reduce, M, Shape>>{};
  } else {
    using marks = typename without_partial_along<M, marks_t<Shape>>::type;
    return answer<accepted<make_shape_t<dims_t<Shape>, marks>>>{};
  }
}

template <class M, class D, class Shape, class... Way>
consteval auto judge_reduce_scatter() {
  if constexpr (!is_partial_along<M, Shape>) {
    return answer<nothing_to_reduce<op::reduce_scatter, M, Shape>>{};
  } else if constexpr (!is_in<D, dims_t<Shape>>) {
    return answer<missing_t<op::reduce_scatter, list<D>, Shape>>{};
  } else if constexpr (!has_shard<D, M, Way...>) {
    return answer<shard_error<D, M>>{};
  } else if constexpr (!divides_among<D, M>) {
    return answer<division_error<D, M>>{};
  } else {
    using whole = make_shape_t<dims_t<Shape>, typename without_partial_along<M, marks_t<Shape>>::type>;
    return judge_exchanged<op::reduce_scatter, M, exchanged_t<D, shard<D, M, Way...>, whole>, Shape>();
  }
}

template <class M, class D, class Shape>
consteval auto judge_all_gather() {
  using part = shard_in_t<M, D, Shape>;
  if constexpr (std::is_void_v<part>) {
    return answer<nothing_to_gather<op::all_gather, list<M, D>, Shape>>{};
  } else {
    return judge_exchanged<op::all_gather, M, exchanged_t<part, D, Shape>, Shape>();
  }
}

template <class M, class From, class To, class Shape, class... Way>
consteval auto judge_all_to_all() {
  using part = shard_in_t<M, From, Shape>;
  if constexpr (std::is_void_v<part>) {
    return answer<nothing_to_gather<op::all_to_all, list<M, From>, Shape>>{};
  } else if constexpr (!is_in<To, dims_t<Shape>>) {
    return answer<missing_t<op::all_to_all, list<To>, Shape>>{};
  } else if constexpr (!has_shard<To, M, Way...>) {
    return answer<shard_error<To, M>>{};
  } else if constexpr (!divides_among<To, M>) {
    return answer<division_error<To, M>>{};
  } else {
    return judge_exchanged<op::all_to_all, M, exchanged_t<To, shard<To, M, Way...>, exchanged_t<part, From, Shape>>,
                           Shape>();
  }
}

// A value that a rank sends to all is whole afterwards: it is not a part of its own.
template <class M, class Shape>
consteval auto judge_broadcast_from() {
  if constexpr (is_partial_along<M, Shape>) {
    return answer<ERROR_R23_partial_sum_is_reduced_first<op::broadcast_from, over<M>, operand_t<Shape>>>{};
  } else if constexpr (is_divided_along<M, Shape>) {
    return answer<ERROR_R24_operation_goes_over_a_shard<op::broadcast_from, over<M>, operand_t<Shape>>>{};
  } else {
    return answer<accepted<Shape>>{};
  }
}

// A whole value is the same on every rank: only parts and terms are passed on.
template <class M, class Shape>
consteval auto judge_permute_ranks() {
  if constexpr (!is_partial_along<M, Shape> && !is_divided_along<M, Shape>) {
    return answer<nothing_to_gather<op::permute_ranks, list<M>, Shape>>{};
  } else {
    return answer<accepted<Shape>>{};
  }
}

// Attention over the parts that all ranks have of Key: what softmax and contract say of parts that are merged. The
// operation sees all keys, so softmax over the shard is what it means.
template <class Key, class S>
using ring_weights = typename decltype(judge_softmax<op::softmax, list<Key>, S>())::type;
template <class Key, class S>
using ring_sums = typename decltype(judge_reduce<op::logsumexp, list<Key>, S>())::type;

template <class Key, class S, class V>
consteval auto judge_ring_attention() {
  if constexpr (mesh_axes_t<Key>::size != 1 || !is_in<Key, dims_t<S>>) {
    return answer<nothing_to_gather<op::ring_attention, list<Key>, S>>{};
  } else if constexpr (any_meets_shard<list<Key>, S, V>) {
    return answer<placed_error_t<ERROR_R24_whole_dimension_meets_its_shard, op::ring_attention, list<Key>, S, V>>{};
  } else if constexpr (partials_t<S>::size + partials_t<V>::size > 0) {
    return answer<placed_error_t<ERROR_R23_partial_sum_is_reduced_first, op::ring_attention, list<Key>, S, V>>{};
  } else {
    using weights = ring_weights<Key, S>;
    if constexpr (refused<weights>) {
      return answer<weights>{};
    } else {
      using product = typename decltype(judge_contract<list<Key>, list<>, typename weights::shape, V>())::type;
      if constexpr (refused<product>) {
        return answer<product>{};
      } else {
        return judge_exchanged<op::ring_attention, Key, typename product::shape, S>();
      }
    }
  }
}

}  // namespace detail

namespace rule {

template <class M, class Shape>
using all_reduce = typename decltype(detail::judge_all_reduce<M, Shape>())::type;
template <class M, class D, class Shape, class... Way>
using reduce_scatter = typename decltype(detail::judge_reduce_scatter<M, D, Shape, Way...>())::type;
template <class M, class D, class Shape>
using all_gather = typename decltype(detail::judge_all_gather<M, D, Shape>())::type;
template <class M, class From, class To, class Shape, class... Way>
using all_to_all = typename decltype(detail::judge_all_to_all<M, From, To, Shape, Way...>())::type;
template <class M, class Shape>
using broadcast_from = typename decltype(detail::judge_broadcast_from<M, Shape>())::type;
template <class M, class Shape>
using permute_ranks = typename decltype(detail::judge_permute_ranks<M, Shape>())::type;
template <class Key, class S, class V>
using ring_attention = typename decltype(detail::judge_ring_attention<Key, S, V>())::type;

}  // namespace rule
}  // namespace dimwise
