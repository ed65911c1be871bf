// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/rules/placed.hpp -- the rules of shards and partial sums, which every other rule passes through.
//
// Layer: shape.
//
//   sum<shard<D, M>>:  [shard<D, M>, rest]  ->  [rest], partial<M>        all_reduce<M>:  partial<M> ends
//
// A rule's alias in `namespace rule` hands its verdict to `on_ranks`. An operation that names a shard without being
// one of those below is rejected, and so is one whose row in the table of marks does not keep `partial`: a new
// operation is right on one rank only, until it says otherwise.
//
// R23, R24, R25.
// Tests: tests/shape/rules/placed.test.cpp, tests/compile_fail/ranks/
#pragma once

#include <dimwise/shape/verdict.hpp>

namespace dimwise::detail {

// How an operation combines its operands. A sum has the partial sums of all operands, a product those of one.
struct of_one;
struct of_sum;
struct of_product;
struct of_quotient;  // the second operand is whole
struct of_masked;    // a reduction of what a mask allows
template <class Whole>
struct of_whole;  // a mean whose whole extent is given

// Operations that each rank computes for its own part; the parts together are the whole.
template <class Op>
inline constexpr bool names_shards = is_any_of<Op, op::rename, op::relabel, op::permute, op::split, op::merge, op::part,
                                               op::slice, op::broadcast, op::broadcast_like, op::one_hot, op::rotary>;
// Operations that sum over the part: the whole is the sum over the ranks.
template <class Op>
inline constexpr bool sums_shards = is_any_of<Op, op::contract, op::sum, op::mean, op::scatter_add>;

// Operations whose first and second dimension are one under two names: both on the same mesh axes. A rank may slice its
// part of a whole dimension.
template <class Op>
inline constexpr bool renames = is_any_of<Op, op::rename, op::relabel, op::slice>;
template <class Over>
inline constexpr bool changes_mesh = false;
template <class From, class To, class... More>
inline constexpr bool changes_mesh<list<From, To, More...>> =
    !same_set<mesh_axes_t<From>, mesh_axes_t<To>> || position_step<From> != position_step<To>;

// The angle of a feature depends on its place among all features.
template <class Op, class Over>
inline constexpr bool divides_features = false;
template <class P, class F, class... More>
inline constexpr bool divides_features<op::rotary, list<P, F, More...>> = is_sharded<F>;

template <class Op, class Over>
inline constexpr bool takes_own_part = false;
template <class D, class Part>
  requires(is_shard<Part>)
inline constexpr bool takes_own_part<op::slice, list<D, Part>> =
    std::is_same_v<typename Part::shard_of, D> && !Part::is_striped;

template <class Op, class Over>
inline constexpr bool misuses_shard = mesh_axes_of_list_t<Over>::size > 0 &&
                                      ((!names_shards<Op> && !sums_shards<Op>) || divides_features<Op, Over> ||
                                       (renames<Op> && changes_mesh<Over> && !takes_own_part<Op, Over>));

// The mean of one rank's part is not the mean: the whole extent is static, or given. Neither counts what a mask allows.
template <class D, class How>
inline constexpr bool knows_whole = !is_sharded<whole_t<D>> && whole_t<D>::static_extent != at_run_time;
template <class D, class Whole>
inline constexpr bool knows_whole<D, of_whole<Whole>> = std::is_same_v<whole_t<D>, Whole> || knows_whole<D, of_one>;
template <class D>
inline constexpr bool knows_whole<D, of_masked> = false;
template <class How, class... D>
consteval bool knows_wholes(list<D...>) {
  return ((!is_sharded<D> || knows_whole<D, How>) && ...);
}
template <class Op, class How, class Over>
inline constexpr bool averages_part = std::is_same_v<Op, op::mean> && !knows_wholes<How>(Over{});

template <class Shape>
using partials_t = marked_t<partial, marks_t<Shape>>;
template <class Axes>
struct partial_marks;
template <class... M>
struct partial_marks<list<M...>> {
  using type = list<partial<M>...>;
};
template <class Marks>
struct without_partial;
template <class... M>
struct without_partial<list<M...>> {
  using type = join_t<list<>, list_if<mark_order<M> != mark_order<partial<>>, M>...>;
};

// Whether one side has a dimension of which the other has a shard, among the dimensions that the operation names, or
// among all where it names none.
template <class D, class Named, class Other>
inline constexpr bool meets_part = false;
template <class D, class Named, class... E>
inline constexpr bool meets_part<D, Named, list<E...>> =
    ((is_sharded<D> != is_sharded<E> && std::is_same_v<whole_t<D>, whole_t<E>> &&
      (Named::size == 0 || is_in<D, Named> || is_in<E, Named>)) ||
     ...);
template <class Named, class A, class B>
inline constexpr bool whole_meets_shard = false;
template <class Named, class... D, class B>
inline constexpr bool whole_meets_shard<Named, list<D...>, B> = (meets_part<D, Named, B> || ...);
template <class Named, class... Shapes>
inline constexpr bool any_meets_shard = false;
template <class Named, class First, class... Rest>
inline constexpr bool any_meets_shard<Named, First, Rest...> =
    (whole_meets_shard<Named, dims_t<First>, dims_t<Rest>> || ...) || any_meets_shard<Named, Rest...>;

template <template <class...> class Error, class Op, class Over, class Shown>
struct placed_error;
template <template <class...> class Error, class Op, class... D, class... Shown>
struct placed_error<Error, Op, list<D...>, list<Shown...>> {
  using type = Error<Op, over<about_t<D>...>, Shown...>;
};
template <template <class...> class Error, class Op, class... Shown>
struct placed_error<Error, Op, list<>, list<Shown...>> {
  using type = Error<Op, Shown...>;
};
template <template <class...> class Error, class Op, class Over, class... Shapes>
using placed_error_t = typename placed_error<Error, Op, Over, typename show_all<Shapes...>::type>::type;

// The partial sums of the second and further operands.
template <class First, class... Rest>
inline constexpr bool same_partials = (same_set<partials_t<First>, partials_t<Rest>> && ...);
template <class First, class... Rest>
inline constexpr bool divides_by_partial = (partials_t<Rest>::size + ... + 0) > 0;

template <class Op, class How, class Over, class Verdict, class... Shapes>
consteval auto judge_placed() {
  if constexpr (refused<Verdict>) {
    if constexpr (any_meets_shard<Over, Shapes...>) {
      return answer<placed_error_t<ERROR_R24_whole_dimension_meets_its_shard, Op, Over, Shapes...>>{};
    } else {
      return answer<Verdict>{};
    }
  } else {
    constexpr effect on_partial = marks_row<Op>.partial;
    constexpr bool any_partial = (partials_t<Shapes>::size + ...) > 0;
    constexpr bool is_factor = std::is_same_v<How, of_product> || std::is_same_v<How, of_quotient>;
    using partials = join_t<partials_t<Shapes>...>;
    if constexpr (averages_part<Op, How, Over>) {
      return answer<placed_error_t<ERROR_R24_mean_over_a_shard_divides_by_the_whole_extent, Op, Over, Shapes...>>{};
    } else if constexpr (misuses_shard<Op, Over>) {
      return answer<placed_error_t<ERROR_R24_operation_goes_over_a_shard, Op, Over, Shapes...>>{};
    } else if constexpr (any_partial && on_partial != keep && on_partial != by_rule) {
      return answer<placed_error_t<ERROR_R23_partial_sum_is_reduced_first, Op, Over, Shapes...>>{};
    } else if constexpr (std::is_same_v<How, of_sum> && !same_partials<Shapes...>) {
      return answer<placed_error_t<ERROR_R23_whole_value_is_added_to_a_partial_sum, Op, Over, Shapes...>>{};
    } else if constexpr (std::is_same_v<How, of_quotient> && divides_by_partial<Shapes...>) {
      return answer<placed_error_t<ERROR_R23_partial_sum_is_reduced_first, Op, Over, Shapes...>>{};
    } else if constexpr (is_factor && !all_distinct(partials{})) {
      return answer<placed_error_t<ERROR_R23_partial_sums_are_multiplied, Op, Over, Shapes...>>{};
    } else {
      using own = typename without_partial<marks_t<typename Verdict::shape>>::type;
      using added = either_t<sums_shards<Op>, mesh_axes_of_list_t<Over>, list<>>;
      using marks = join_t<own, typename partial_marks<unique_t<partials>>::type, typename partial_marks<added>::type>;
      using result = make_shape_t<dims_t<typename Verdict::shape>, marks>;
      using axes = join_t<mesh_axes_of_list_t<typename dims_on_mesh<dims_t<result>>::type>, unique_t<partials>, added>;
      if constexpr (!all_distinct(axes{})) {
        return answer<placed_error_t<ERROR_R25_mesh_axis_occurs_twice, Op, Over, Shapes...>>{};
      } else {
        return answer<accepted<result>>{};
      }
    }
  }
}

template <bool Placed>
struct placed_verdict {
  template <class Op, class How, class Over, class Judged, class... Shapes>
  using of = typename Judged::type;
};
template <>
struct placed_verdict<true> {
  template <class Op, class How, class Over, class Judged, class... Shapes>
  using of = typename decltype(judge_placed<Op, How, Over, typename Judged::type, Shapes...>())::type;
};

template <class Over>
inline constexpr bool names_shard = false;
template <class... D>
inline constexpr bool names_shard<list<D...>> = (is_sharded<D> || ...);

// The verdict of a rule on operands of which several ranks may have parts.
template <class Op, class How, class Over, class Judged, class... Shapes>
using on_ranks = typename placed_verdict<(is_placed<Shapes> || ...) ||
                                         names_shard<Over>>::template of<Op, How, Over, Judged, Shapes...>;

}  // namespace dimwise::detail
