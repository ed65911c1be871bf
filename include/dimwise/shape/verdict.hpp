// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/verdict.hpp -- the verdict of a rule: the shape of the result, or the type of the error.
//
// Layer: shape.
// A rule is a template whose `type` is `accepted<shape<…>>` or an undefined type ERROR_R…<…>. Each operation has an
// overload for both: the second returns the error type, so the compiler must print it even if the result is unused, and
// concepts can check the rule without a hard error. docs/errors.md explains every error.
#pragma once

#include <dimwise/shape/marks_table.hpp>

namespace dimwise {

/// In an error: the shape of the left operand, the right one, or the only one.
template <class... DimsAndMarks>
struct lhs;
template <class... DimsAndMarks>
struct rhs;
template <class... DimsAndMarks>
struct operand_shape;

namespace detail {

// The dimensions that a rule checks, written as `over<D…>`, as `along<D…>`, or as a list.
template <class Named>
struct named_dims;
template <template <class...> class L, class... D>
struct named_dims<L<D...>> {
  using type = list<D...>;
};
template <class Named>
using named_t = typename named_dims<Named>::type;

}  // namespace detail

/// The verdict of a rule that accepts its operands, with the shape of the result.
template <class Shape>
struct accepted {
  using shape = Shape;
};

namespace detail {
template <class Verdict>
inline constexpr bool is_accepted = false;
template <class Shape>
inline constexpr bool is_accepted<accepted<Shape>> = true;
}  // namespace detail

/// The rule accepts its operands.
template <class Verdict>
concept allowed = detail::is_accepted<Verdict>;
/// The rule rejects its operands: `Verdict` is the error.
template <class Verdict>
concept refused = !allowed<Verdict>;

namespace detail {

template <class Shape>
struct show;
template <class... T>
struct show<shape<T...>> {
  using as_lhs = lhs<T...>;
  using as_rhs = rhs<T...>;
  using as_operand = operand_shape<T...>;
};
template <class Shape>
using lhs_t = typename show<Shape>::as_lhs;
template <class Shape>
using rhs_t = typename show<Shape>::as_rhs;
template <class Shape>
using operand_t = typename show<Shape>::as_operand;

template <class Dims>
struct over_list;
template <class... D>
struct over_list<list<D...>> {
  using type = over<about_t<D>...>;
};
template <class Dims>
using over_t = typename over_list<Dims>::type;

// The shapes of an error with several operands.
template <class... Shapes>
struct show_all;
template <class A>
struct show_all<A> {
  using type = list<operand_t<A>>;
};
template <class A, class B>
struct show_all<A, B> {
  using type = list<lhs_t<A>, rhs_t<B>>;
};
template <class A, class B, class C, class... Rest>
struct show_all<A, B, C, Rest...> {
  using type = list<operand_t<A>, operand_t<B>, operand_t<C>, operand_t<Rest>...>;
};
template <template <class...> class Error, class Op, class Shown>
struct error_with;
template <template <class...> class Error, class Op, class... Shown>
struct error_with<Error, Op, list<Shown...>> {
  using type = Error<Op, Shown...>;
};
template <template <class...> class Error, class Op, class... Shapes>
using error_with_t = typename error_with<Error, Op, typename show_all<Shapes...>::type>::type;

// The return type of a rule's constexpr function, which carries the verdict.
template <class T>
using answer = std::type_identity<T>;

template <class List>
struct first_of;
template <class First, class... Rest>
struct first_of<list<First, Rest...>> {
  using type = First;
};
template <class List>
using first_t = typename first_of<List>::type;

// The dimensions of a list, filtered by a property.
template <class List>
struct filter;
template <class... D>
struct filter<list<D...>> {
  static constexpr std::size_t packed = (std::size_t{is_packed<D>} + ... + 0);
  static constexpr bool any_heads = (is_heads<D> || ...);
  static constexpr bool all_features = (is_feature<D> && ...);
  static constexpr bool all_attended = (has_any(D::abilities, ability::attendable | ability::choice) && ...);
  static constexpr bool all_ordered = (has_any(D::abilities, ability::ordered) && ...);
  static constexpr bool all_single = ((D::static_extent == 1) && ...);
  static constexpr bool any_position = (is_position<D> || ...);
  static constexpr bool any_alternative = ((is_position<D> || (is_choice<D> && !is_parallel<D>)) || ...);
  static constexpr bool any_feature = (is_feature<D> || ...);
  static constexpr bool any_choice = (is_choice<D> || ...);
  static constexpr bool any_exclusive_choice = ((is_choice<D> && !is_parallel<D>) || ...);
  static constexpr bool any_feature_or_choice = ((is_feature<D> || is_choice<D>) || ...);
  static constexpr bool any_batch = ((is_parallel<D> && !is_heads<D>) || ...);
  static constexpr bool all_parallel = (is_parallel<D> && ...);
};

// The dimensions of a list that are of a kind.
template <class List>
struct positions_in;
template <class... D>
struct positions_in<list<D...>> : join<list_if<is_position<D>, D>...> {};
template <class List>
struct packed_in;
template <class... D>
struct packed_in<list<D...>> : join<list_if<is_packed<D>, D>...> {};
template <class List>
struct not_parallel_in;
template <class... D>
struct not_parallel_in<list<D...>> : join<list_if<!is_parallel<D>, D>...> {};
template <class List>
struct not_features_in;
template <class... D>
struct not_features_in<list<D...>> : join<list_if<!is_feature<D>, D>...> {};
template <class List>
struct not_attended_in;
template <class... D>
struct not_attended_in<list<D...>>
    : join<list_if<!has_any(D::abilities, ability::attendable | ability::choice), D>...> {};
// Those that a softmax under a mask or bias may go over, including those that are both parallel and a choice.
template <class List>
struct alternatives_in;
template <class... D>
struct alternatives_in<list<D...>> : join<list_if<!is_parallel<D> || is_choice<D>, D>...> {};

}  // namespace detail

namespace detail {

// The error for a mark that an operation rejects, by the table of marks.

// Whether a dimension is a part of a sum.
template <class D, class Other>
inline constexpr bool is_part_of = false;
template <class D, class... P>
inline constexpr bool is_part_of<D, summed<P...>> = is_any_of<D, P...>;

// The dimensions over which an operand is normalised or weighted.
template <class Shape>
using weighing_t = join_t<marked_t<normalised, marks_t<Shape>>, marked_t<weighted, marks_t<Shape>>>;

// R5: log-probabilities and probabilities have different scales; they only meet in products.
template <class A, class B>
inline constexpr bool logarithms_meet =
    (marked_t<log_normalised, marks_t<A>>::size > 0 && marked_t<normalised, marks_t<B>>::size > 0) ||
    (marked_t<normalised, marks_t<A>>::size > 0 && marked_t<log_normalised, marks_t<B>>::size > 0);

// Whether an operand is masked and needs a softmax or reduction.
template <class... Shapes>
inline constexpr bool any_masked = (marked_t<masked_for, marks_t<Shapes>>::size + ... + 0) > 0;

template <class Mark, class... Facts>
struct refused_mark;
#define DIMWISE_DETAIL_REFUSED_MARK(mark, Error) \
  template <class... D, class... Facts>          \
  struct refused_mark<mark<D...>, Facts...> {    \
    using type = Error<Facts...>;                \
  };
DIMWISE_DETAIL_REFUSED_MARK(raw, ERROR_R6_raw_products_are_scaled_first)
DIMWISE_DETAIL_REFUSED_MARK(masked_for, ERROR_R7_masked_values_go_to_softmax_or_a_reduction)
DIMWISE_DETAIL_REFUSED_MARK(biased_for, ERROR_R7_bias_is_the_same_for_all_that_softmax_goes_over)
DIMWISE_DETAIL_REFUSED_MARK(normalised, ERROR_R5_already_normalised)
DIMWISE_DETAIL_REFUSED_MARK(weighted, ERROR_R5_weighted_product_is_reduced_over_its_weights_only)
DIMWISE_DETAIL_REFUSED_MARK(log_normalised, ERROR_R22_logits_are_log_probabilities)
DIMWISE_DETAIL_REFUSED_MARK(rotated, ERROR_R9_already_rotated)
DIMWISE_DETAIL_REFUSED_MARK(indexed, ERROR_R18_single_element_meets_its_whole_dimension)
DIMWISE_DETAIL_REFUSED_MARK(partial, ERROR_R23_partial_sum_is_reduced_first)
#undef DIMWISE_DETAIL_REFUSED_MARK
template <class... D, class Op, class... Facts>
struct refused_mark<score<D...>, Op, Facts...> {
  using type = either_t<std::is_same_v<Op, op::scaled> || std::is_same_v<Op, op::unscaled>,
                        ERROR_R6_scores_are_already_scaled<Op, Facts...>, ERROR_R6_scores_go_to_softmax<Op, Facts...>>;
};
template <class Op, class Shape>
inline constexpr bool refuses_mark = !std::is_void_v<typename effects<Op, marks_t<Shape>>::refused>;
template <class Op, class Shape, class... Facts>
using refused_mark_t = typename refused_mark<typename effects<Op, marks_t<Shape>>::refused, Op, Facts...>::type;

// R9, where two shapes are rotated unlike: one of them alone, or by other positions.
template <class Shape>
inline constexpr bool has_rotation = marked_t<rotated, marks_t<Shape>>::size > 0;
template <class Left, class Right, class... Facts>
using unlike_rotations_t =
    either_t<has_rotation<Left> && has_rotation<Right>, ERROR_R9_operands_are_rotated_by_other_positions<Facts...>,
             ERROR_R9_only_one_operand_is_rotated<Facts...>>;

// R18, for whatever an operation takes besides its first operand (mask, lengths, bias, ids, positions, scale, table):
// whether an element that `at` took of a dimension meets an operand that has it, under its own name or as a factor; and
// the marks of what was taken, which the result has too.
template <class Taken, class... Shapes>
inline constexpr bool taken_meets = !is_disjoint<Taken, axes_of_list_t<join_t<dims_t<Shapes>...>>>;
template <class... Shapes>
inline constexpr bool taken_meets<list<>, Shapes...> = false;
template <class... Shapes>
inline constexpr bool indexed_meets = taken_meets<join_t<marked_t<indexed, marks_t<Shapes>>...>, Shapes...>;

template <class Dims>
struct indexed_list;
template <class... D>
struct indexed_list<list<D...>> {
  using type = list<indexed<D>...>;
};
template <class... Shapes>
using indexed_marks_t = typename indexed_list<join_t<marked_t<indexed, marks_t<Shapes>>...>>::type;
// The shape with the marks of what was taken of the others.
template <class Shape, class... Others>
using with_indexed_t = make_shape_t<dims_t<Shape>, join_t<marks_t<Shape>, indexed_marks_t<Others...>>>;

// Whether a dimension is part of a composite of the operand, rather than missing.
template <class D, class Shape>
inline constexpr bool hides_in_composite = !is_disjoint<axes_t<D>, axes_of_list_t<dims_t<Shape>>>;

// The error for dimensions that the only operand lacks (R1), or has inside a composite (R4).
template <class Op, class Missing, class Shape>
using missing_t = either_t<hides_in_composite<first_t<Missing>, Shape>,
                           ERROR_R4_composite_has_other_factors_or_order<Op, over_t<Missing>, operand_t<Shape>>,
                           ERROR_R1_dimension_is_not_in_the_operand<Op, over_t<Missing>, operand_t<Shape>>>;

// Every rule with named dimensions checks this: a dimension named twice would be reduced or iterated twice.
template <class... Named>
inline constexpr bool named_once = all_distinct(join_t<Named...>{});
template <class Named>
inline constexpr bool named_once<Named> = all_distinct(Named{});
template <class One>
inline constexpr bool named_once<list<One>> = true;

// The first check of all operations that name dimensions of one operand: names must be dimensions of the operand,
// without duplicates. Returns `nothing` if there is no error.
template <class Op, class Named, class Shape>
consteval auto naming_objection() {
  using missing = difference_t<Named, dims_t<Shape>>;
  if constexpr (!all_dimensions(Named{})) {
    return answer<ERROR_R1_operation_names_its_dimension<Op, over_t<Named>, operand_t<Shape>>>{};
  } else if constexpr (missing::size > 0) {
    return answer<missing_t<Op, missing, Shape>>{};
  } else if constexpr (!named_once<Named>) {
    return answer<ERROR_R17_dimension_occurs_twice<Op, over_t<Named>, operand_t<Shape>>>{};
  } else {
    return answer<nothing>{};
  }
}
template <class Op, class Named, class Shape>
using naming_objection_t = typename decltype(naming_objection<Op, Named, Shape>())::type;

}  // namespace detail
}  // namespace dimwise
