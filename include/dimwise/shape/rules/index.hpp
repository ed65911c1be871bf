// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/rules/index.hpp -- the rules of at, slice, gather, concat and stack.
//
// Layer: shape.
//
//   at<D>: [D, rest] -> [rest], indexed<D>      slice<D>: [D, rest] -> [D, rest]
//   gather<D>: [D, rest] x ids [i] -> [i, rest]
//
// R1, R5, R10, R17, R18.
// Tests: tests/shape/rules/index.test.cpp, tests/compile_fail/index/
#pragma once

#include <dimwise/shape/rules/assign.hpp>
#include <dimwise/shape/rules/placed.hpp>
#include <dimwise/shape/rules/restride.hpp>
#include <dimwise/shape/verdict.hpp>

namespace dimwise {

/// An index into dimension D (R18).
template <class D>
struct id {
  using dimension_type = D;
  std::size_t value = 0;

  id() = default;
  /// The id of an element by its index.
  constexpr explicit id(std::size_t v) : value(v) {}
  [[nodiscard]] friend constexpr bool operator==(id, id) = default;
};

namespace detail {

template <class T>
inline constexpr bool is_id = false;
template <class D>
inline constexpr bool is_id<id<D>> = true;

template <class Op, class D, class Shape>
consteval auto judge_at() {
  using dims = dims_t<Shape>;
  if constexpr (!is_in<D, dims>) {
    return answer<missing_t<Op, list<D>, Shape>>{};
  } else if constexpr (is_composite<D>) {
    return answer<ERROR_R18_ids_of_a_composite_are_split_first<Op, over<about_t<D>>, operand_t<Shape>>>{};
  } else {
    using kept = typename marks_without<marks_t<Shape>, D>::type;
    return answer<accepted<make_shape_t<difference_t<dims, list<D>>, join_t<kept, list<indexed<D>>>>>>{};
  }
}

template <class D, class Result, class Shape>
consteval auto judge_slice() {
  using dims = dims_t<Shape>;
  if constexpr (!is_in<D, dims>) {
    return answer<missing_t<op::slice, list<D>, Shape>>{};
  } else if constexpr (is_composite<Result>) {
    return answer<
        ERROR_R18_slice_of_a_composite_names_a_plain_dimension<op::slice, over<about_t<D>>, operand_t<Shape>>>{};
  } else if constexpr (is_composite<D> && is_in<Result, atoms_t<D>>) {
    // A factor or part has its own elements: use `split` and `part`.
    return answer<ERROR_R4_composite_has_other_factors_or_order<op::slice, over<about_t<D>, about_t<Result>>,
                                                                operand_t<Shape>>>{};
  } else if constexpr (std::is_same_v<D, Result> && D::static_extent != at_run_time) {
    return answer<ERROR_R18_slice_of_a_static_extent_names_its_result<op::slice, over<about_t<D>>, operand_t<Shape>>>{};
  } else if constexpr (D::abilities != Result::abilities && !(is_composite<D> && D::abilities == ability::none)) {
    return answer<ERROR_R18_slice_has_another_kind<op::slice, over<about_t<D>, about_t<Result>>, operand_t<Shape>>>{};
  } else if constexpr (D::static_extent != at_run_time && Result::static_extent != at_run_time &&
                       Result::static_extent > D::static_extent) {
    return answer<
        ERROR_R18_slice_is_longer_than_its_dimension<op::slice, over<about_t<D>, about_t<Result>>, operand_t<Shape>>>{};
  } else {
    using result = replace_t<dims, D, list<Result>>;
    if constexpr (!all_distinct(axes_of_list_t<result>{})) {
      return answer<ERROR_R17_dimension_occurs_twice<op::slice, over<about_t<D>, about_t<Result>>, operand_t<Shape>>>{};
    } else {
      using cut = typename cut_marks<marks_t<Shape>, D>::type;
      return answer<accepted<make_shape_t<result, typename rename_marks<cut, D, Result>::type>>>{};
    }
  }
}

// R5: of logarithms of probabilities a row is taken by a condition, which leaves the dimension that they are normalised
// over, or an element along that dimension. Ids that share it take elements of several distributions side by side.
template <class D, class Over, class Ids>
inline constexpr bool gathers_beside_its_dimension = Over::size > 0 && is_disjoint<axes_t<D>, axes_of_list_t<Over>> &&
                                                     !is_disjoint<axes_of_list_t<Over>, axes_of_list_t<dims_t<Ids>>>;
// The marks that say so and end along D.
template <class D, class Marks>
struct logarithms_beside {
  template <class M>
  static constexpr bool stays =
      mark_order<M> == mark_order<log_normalised<>> && is_disjoint<axes_t<D>, axes_of_list_t<mark_dims_t<M>>>;
  template <class... M>
  static auto keep(list<M...>) -> join_t<list_if<stays<M>, M>...>;
  using type = decltype(keep(Marks{}));
};

template <class D, class IdDim, class Table, class Ids>
consteval auto judge_gather() {
  using table = dims_t<Table>;
  if constexpr (!is_in<D, table>) {
    return answer<missing_t<op::gather, list<D>, Table>>{};
  } else if constexpr (!std::is_same_v<D, IdDim>) {
    return answer<ERROR_R18_ids_index_their_own_dimension_only<op::gather, over<about_t<D>>, id<IdDim>, lhs_t<Table>,
                                                               rhs_t<Ids>>>{};
  } else if constexpr (indexed_meets<Table, Ids>) {
    return answer<
        ERROR_R18_single_element_meets_its_whole_dimension<op::gather, over<about_t<D>>, lhs_t<Table>, rhs_t<Ids>>>{};
  } else if constexpr (is_merged<D> && !is_in<D, dims_t<Ids>>) {
    return answer<
        ERROR_R18_ids_of_a_composite_are_split_first<op::gather, over<about_t<D>>, lhs_t<Table>, rhs_t<Ids>>>{};
  } else if constexpr (refuses_mark<op::gather, Table>) {
    return answer<refused_mark_t<op::gather, Table, over<about_t<D>>, lhs_t<Table>, rhs_t<Ids>>>{};
  } else if constexpr (gathers_beside_its_dimension<D, marked_t<log_normalised, marks_t<Table>>, Ids>) {
    using named = join_t<list<D>, marked_t<log_normalised, marks_t<Table>>>;
    return answer<ERROR_R5_log_probabilities_are_taken_along_their_own_dimension<op::gather, over_t<named>,
                                                                                 lhs_t<Table>, rhs_t<Ids>>>{};
  } else {
    // What the ids and the table share is taken side by side, but for D, which is that of the ids where they have it;
    // the ids' dimensions come first.
    using kept = join_t<kept_marks_t<op::gather, Table>, typename logarithms_beside<D, marks_t<Table>>::type>;
    using marks =
        typename std::conditional_t<is_in<D, dims_t<Ids>>, std::type_identity<kept>, marks_without<kept, D>>::type;
    using dims = union_t<dims_t<Ids>, difference_t<table, list<D>>>;
    if constexpr (!all_distinct(axes_of_list_t<dims>{})) {
      return answer<ERROR_R17_dimension_occurs_twice<op::gather, over<about_t<D>>, lhs_t<Table>, rhs_t<Ids>>>{};
    } else {
      return answer<accepted<make_shape_t<dims, join_t<marks, indexed_marks_t<Ids>>>>>{};
    }
  }
}

// A bias of one part distinguishes it from the others, so a softmax over the joined dimension sees it.
template <class Marks, class Part, class Whole>
struct joined_biases;
template <class... M, class Part, class Whole>
struct joined_biases<list<M...>, Part, Whole> {
  template <class Mark>
  struct one {
    using type = list<>;
  };
  template <class... D>
  struct one<biased_for<D...>> {
    using type = list<biased_for<D...>>;
  };
  template <class... D>
    requires(Whole::size > 0)
  struct one<biased_for<D...>> : mark_over<biased_for, sorted_t<union_t<difference_t<list<D...>, list<Part>>, Whole>>> {
  };
  using type = join_t<typename one<M>::type...>;
};
// A mask over a part applies to the whole; parts without a mask are visible.
template <class Marks, class Part, class Whole>
struct joined_masks;
template <class... M, class Part, class Whole>
struct joined_masks<list<M...>, Part, Whole> {
  template <class Mark>
  struct one {
    using type = list<>;
  };
  template <class... D>
  struct one<masked_for<D...>> : mark_over<masked_for, sorted_t<replace_t<list<D...>, Part, Whole>>> {};
  using type = join_t<typename one<M>::type...>;
};
// The mark of the joined masks; masks over different dimensions are not joined.
template <class... Masks>
using all_masks_t = marks_t<make_shape_t<list<>, join_t<Masks...>>>;

template <class Marks>
struct without_joined;
template <class... M>
struct without_joined<list<M...>> {
  using type =
      join_t<list_if<mark_order<M> != mark_order<biased_for<>> && mark_order<M> != mark_order<masked_for<>>, M>...>;
};
template <class Shape>
using alike_t = make_shape_t<dims_t<Shape>, typename without_joined<marks_t<Shape>>::type>;

// All of `B` as in `A` but the part that takes D's place, what was added to one of them, and what masks one of them.
template <class DA, class DB, class A, class B>
inline constexpr bool joins =
    same_set<replace_t<dims_t<B>, DB, list<DA>>, dims_t<A>> && same_set<marks_t<alike_t<A>>, marks_t<alike_t<B>>>;

// Errors show the first operand and the one that differs.
template <class D, class... Shapes>
using first_without = first_t<join_t<list_if<!is_in<D, dims_t<Shapes>>, Shapes>...>>;
template <class D, class A, class... B>
using first_unlike = first_t<join_t<list_if<!joins<D, D, A, B>, B>...>>;

template <class D, class A, class... B>
consteval auto judge_concat() {
  using masks = all_masks_t<typename joined_masks<marks_t<A>, D, list<D>>::type,
                            typename joined_masks<marks_t<B>, D, list<D>>::type...>;
  using missing = join_t<difference_t<list<D>, dims_t<A>>, difference_t<list<D>, dims_t<B>>...>;
  if constexpr (missing::size > 0) {
    return answer<
        ERROR_R1_dimension_is_not_in_the_operand<op::concat, over<about_t<D>>, operand_t<first_without<D, A, B...>>>>{};
  } else if constexpr (is_composite<D>) {
    return answer<
        ERROR_R4_composite_has_other_factors_or_order<op::concat, over<about_t<D>>, operand_t<A>, operand_t<B>...>>{};
  } else if constexpr (D::static_extent != at_run_time) {
    return answer<ERROR_R10_concat_of_a_static_extent_names_its_result<op::concat, over<about_t<D>>, operand_t<A>,
                                                                       operand_t<B>...>>{};
  } else if constexpr (!(joins<D, D, A, B> && ...)) {
    return answer<ERROR_R10_operands_differ_in_another_dimension<op::concat, over<about_t<D>>, operand_t<A>,
                                                                 operand_t<first_unlike<D, A, B...>>>>{};
  } else if constexpr (masks::size > 1) {
    return answer<
        ERROR_R10_operands_differ_in_another_dimension<op::concat, over<about_t<D>>, operand_t<A>, operand_t<B>...>>{};
  } else {
    using marks = join_t<masks, typename cut_marks<marks_t<alike_t<A>>, D>::type,
                         typename joined_biases<marks_t<A>, D, list<D>>::type,
                         typename joined_biases<marks_t<B>, D, list<D>>::type...>;
    return answer<accepted<make_shape_t<dims_t<A>, marks>>>{};
  }
}

// A part may be rotated while others are not: its rotations are its own.
template <class Own, class Shape>
struct own_rotation {
  template <class... M>
  static auto keep(list<M...>) -> join_t<list_if<rotates<list<Own>, M>, M>...>;
  using type = decltype(keep(marks_t<Shape>{}));
  using rest = make_shape_t<dims_t<Shape>, difference_t<marks_t<Shape>, type>>;
};

// A part of a sum, and the operand that has it.
template <class Part, class Shape>
struct part_in {
  using part = Part;
  using shape = Shape;
};
template <class First, class A, class Part, class B>
inline constexpr bool joins_part =
    joins<First, Part, typename own_rotation<First, A>::rest, typename own_rotation<Part, B>::rest>;

// A list with one shape per part.
template <class Whole, class Parts, class... Shapes>
struct masks_of_parts {
  using type = list<>;
};
template <class Whole, class... P, class... Shapes>
  requires(sizeof...(P) == sizeof...(Shapes))
struct masks_of_parts<Whole, list<P...>, Shapes...> {
  using type = all_masks_t<typename joined_masks<marks_t<Shapes>, P, list<Whole>>::type...>;
};

template <class Whole, class Parts, class... Shapes>
struct concat_parts;
template <class Whole, class First, class... P, class A, class... B>
struct concat_parts<Whole, list<First, P...>, A, B...> {
  static consteval auto judge() {
    using O = over<about_t<Whole>>;
    using masks = typename masks_of_parts<Whole, list<First, P...>, A, B...>::type;
    if constexpr (!named_once<list<First, P...>>) {
      return answer<ERROR_R17_dimension_occurs_twice<op::concat, O, operand_t<A>, operand_t<B>...>>{};
    } else if constexpr (sizeof...(P) != sizeof...(B)) {
      return answer<ERROR_R10_operands_differ_in_another_dimension<op::concat, O, operand_t<A>, operand_t<B>...>>{};
    } else if constexpr (!is_in<First, dims_t<A>> || !(is_in<P, dims_t<B>> && ...)) {
      using lacks = first_t<join_t<list_if<!is_in<First, dims_t<A>>, part_in<First, A>>,
                                   list_if<!is_in<P, dims_t<B>>, part_in<P, B>>...>>;
      return answer<ERROR_R1_dimension_is_not_in_the_operand<op::concat, over<about_t<typename lacks::part>>, O,
                                                             operand_t<typename lacks::shape>>>{};
    } else if constexpr (!(joins_part<First, A, P, B> && ...)) {
      return answer<ERROR_R10_operands_differ_in_another_dimension<
          op::concat, O, operand_t<A>, operand_t<first_t<join_t<list_if<!joins_part<First, A, P, B>, B>...>>>>>{};
    } else if constexpr (masks::size > 1) {
      return answer<ERROR_R10_operands_differ_in_another_dimension<op::concat, O, operand_t<A>, operand_t<B>...>>{};
    } else {
      using marks =
          join_t<masks, typename cut_marks<marks_t<alike_t<A>>, First>::type, typename own_rotation<P, B>::type...,
                 typename joined_biases<marks_t<A>, First, list<Whole>>::type,
                 typename joined_biases<marks_t<B>, P, list<Whole>>::type...>;
      return answer<accepted<make_shape_t<replace_t<dims_t<A>, First, list<Whole>>, marks>>>{};
    }
  }
};
template <class Whole, class Parts, class... Shapes>
  requires(Parts::size != sizeof...(Shapes))
struct concat_parts<Whole, Parts, Shapes...> {
  static consteval auto judge() {
    return answer<
        ERROR_R10_operands_differ_in_another_dimension<op::concat, over<about_t<Whole>>, operand_t<Shapes>...>>{};
  }
};
template <class D>
struct concat_judge {
  template <class... Shapes>
  static consteval auto judge() {
    return judge_concat<D, Shapes...>();
  }
};
template <class... P>
struct concat_judge<summed<P...>> {
  template <class... Shapes>
  static consteval auto judge() {
    return concat_parts<summed<P...>, list<P...>, Shapes...>::judge();
  }
};

// `Count` operands; of a vector their number is a run-time value.
template <class D, std::size_t Count, class A, class... B>
consteval auto judge_stack() {
  using O = over<about_t<D>>;
  using masks = all_masks_t<typename joined_masks<marks_t<A>, nothing, list<>>::type,
                            typename joined_masks<marks_t<B>, nothing, list<>>::type...>;
  if constexpr (is_composite<D>) {
    return answer<ERROR_R4_composite_has_other_factors_or_order<op::stack, O, operand_t<A>, operand_t<B>...>>{};
  } else if constexpr (!(joins<nothing, nothing, A, B> && ...)) {
    return answer<ERROR_R10_operands_differ_in_another_dimension<op::stack, O, operand_t<A>,
                                                                 operand_t<first_unlike<nothing, A, B...>>>>{};
  } else if constexpr (masks::size > 1) {
    return answer<ERROR_R10_operands_differ_in_another_dimension<op::stack, O, operand_t<A>, operand_t<B>...>>{};
  } else if constexpr (D::static_extent != at_run_time && Count != at_run_time && D::static_extent != Count) {
    return answer<ERROR_R10_stack_has_another_extent<op::stack, O, extent<Count>, operand_t<A>>>{};
  } else if constexpr (!all_distinct(axes_of_list_t<join_t<list<D>, dims_t<A>>>{})) {
    return answer<ERROR_R17_dimension_occurs_twice<op::stack, O, operand_t<A>>>{};
  } else {
    using told_apart = typename filter<list<D>>::alternatives;
    using marks = join_t<masks, typename without_indexed<marks_t<alike_t<A>>, D>::type,
                         typename joined_biases<marks_t<A>, nothing, told_apart>::type,
                         typename joined_biases<marks_t<B>, nothing, told_apart>::type...>;
    return answer<accepted<make_shape_t<join_t<list<D>, dims_t<A>>, marks>>>{};
  }
}

// What takes the place of elements of D has all dimensions of the operand; of one element it lacks D.
template <class Op, class D, class Shape, class New>
consteval auto judge_replace_at() {
  using O = over<about_t<D>>;
  using dims = dims_t<Shape>;
  if constexpr (!is_in<D, dims>) {
    return answer<missing_t<Op, list<D>, Shape>>{};
  } else if constexpr (is_composite<D>) {
    return answer<ERROR_R18_ids_of_a_composite_are_split_first<Op, O, operand_t<Shape>>>{};
  } else {
    using whole = make_shape_t<dims, typename cut_marks<marks_t<Shape>, D>::type>;
    using one = make_shape_t<difference_t<dims, list<D>>, typename marks_without<marks_t<whole>, D>::type>;
    using part = std::conditional_t<is_in<D, dims_t<New>>, whole, one>;
    if constexpr (same_set<dims_t<part>, dims_t<New>> && same_set<marks_t<stored_t<part>>, marks_t<stored_t<New>>>) {
      return answer<accepted<whole>>{};
    } else {
      return answer<ERROR_R10_operands_differ_in_another_dimension<Op, O, operand_t<part>, operand_t<New>>>{};
    }
  }
}

}  // namespace detail

namespace rule {

// `Op` is the operation that the user called: `unstack` and `assign_at` have the rules of `at` and `replace_at`.
template <class D, class Shape, class Op = op::at>
using at = detail::on_ranks<Op, detail::of_one, detail::list<D>, decltype(detail::judge_at<Op, D, Shape>()), Shape>;
template <class D, class Result, class Shape>
using slice = detail::on_ranks<op::slice, detail::of_one, detail::list<D, Result>,
                               decltype(detail::judge_slice<D, Result, Shape>()), Shape>;
template <class D, class IdDim, class Table, class Ids>
using gather = detail::on_ranks<op::gather, detail::of_product, detail::list<D>,
                                decltype(detail::judge_gather<D, IdDim, Table, Ids>()), Table, Ids>;
template <class D, class... Shapes>
using concat = detail::on_ranks<op::concat, detail::of_sum, detail::list<D>,
                                decltype(detail::concat_judge<D>::template judge<Shapes...>()), Shapes...>;
template <class D, class... Shapes>
using stack = detail::on_ranks<op::stack, detail::of_sum, detail::list<>,
                               decltype(detail::judge_stack<D, sizeof...(Shapes), Shapes...>()), Shapes...>;
template <class D, class Shape>
using stack_of_vector = detail::on_ranks<op::stack, detail::of_one, detail::list<>,
                                         decltype(detail::judge_stack<D, at_run_time, Shape>()), Shape>;

template <class D, class Shape, class New, class Op = op::replace_at>
using replace_at = detail::on_ranks<Op, detail::of_sum, detail::list<D>,
                                    decltype(detail::judge_replace_at<Op, D, Shape, New>()), Shape, New>;

}  // namespace rule
}  // namespace dimwise
