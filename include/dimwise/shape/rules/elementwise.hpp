// SPDX-License-Identifier: BSL-1.0
// dimwise/shape/rules/elementwise.hpp -- the rules of elementwise operations.
//
// Layer: shape.
//
//   a + b:  the smaller operand's dimensions are a subset of the larger's, whose order the result has (tie: left)
//
// R6, R7, R8, R9, R18.
// Tests: tests/shape/rules/elementwise.test.cpp, tests/compile_fail/elementwise/
#pragma once

#include <dimwise/shape/rules/placed.hpp>
#include <dimwise/shape/verdict.hpp>

namespace dimwise {

namespace detail {

// The leftmost operand whose dimensions include those of all others; void if there is none.
template <class Wanted, class... Shapes>
struct largest {
  using type = void;
};
template <class Wanted, class First, class... Rest>
struct largest<Wanted, First, Rest...>
    : either_t<is_subset<Wanted, dims_t<First>>, std::type_identity<First>, largest<Wanted, Rest...>> {};

template <class... Shapes>
struct all_dims;
template <class A>
struct all_dims<A> {
  using type = dims_t<A>;
};
template <class A, class B, class... Rest>
struct all_dims<A, B, Rest...> {
  using type = typename either_t<sizeof...(Rest) == 0, std::type_identity<union_t<dims_t<A>, dims_t<B>>>,
                                 all_dims<make_shape_t<union_t<dims_t<A>, dims_t<B>>, list<>>, Rest...>>::type;
};

// Operations that take elements of several operands as numbers of one scale.
template <class Op>
inline constexpr bool is_of_one_scale = is_any_of<Op, op::compare, op::where, op::maximum, op::minimum, op::clamp>;
template <class... Shapes>
inline constexpr bool any_logarithms_meet = false;
template <class First, class... Rest>
inline constexpr bool any_logarithms_meet<First, Rest...> =
    (logarithms_meet<First, Rest> || ...) || any_logarithms_meet<Rest...>;

// The operations that end the mark of masked values, because they give 0 for what is masked.
template <class Op, bool EndsMask, class... Shapes>
consteval auto judge_elementwise() {
  using wanted = typename all_dims<Shapes...>::type;
  using model = typename largest<wanted, Shapes...>::type;
  if constexpr (indexed_meets<Shapes...>) {
    return answer<error_with_t<ERROR_R18_single_element_meets_its_whole_dimension, Op, Shapes...>>{};
  } else if constexpr (std::is_void_v<model>) {
    return answer<error_with_t<ERROR_R8_neither_has_all_dimensions_of_the_other, Op, Shapes...>>{};
  } else if constexpr (effect_in<masked_for<>>(marks_row<Op>) == by_rule && any_masked<Shapes...> && !EndsMask) {
    return answer<error_with_t<ERROR_R7_masked_values_are_given_to_a_function, Op, Shapes...>>{};
  } else if constexpr (is_of_one_scale<Op> && any_logarithms_meet<Shapes...>) {
    return answer<error_with_t<ERROR_R5_log_probabilities_meet_probabilities, Op, Shapes...>>{};
  } else {
    return answer<accepted<make_shape_t<dims_t<model>, join_t<kept_marks_t<Op, Shapes>...>>>>{};
  }
}

// The dimensions of a bias for a softmax: those along which it distinguishes alternatives. A bias without alternatives
// keeps all of its dimensions, and no softmax sees it.
template <class Dims>
using bias_dims_t = either_t<(alternatives_in<Dims>::type::size > 0), typename alternatives_in<Dims>::type, Dims>;

template <class Shape>
inline constexpr bool are_scores = marked_t<raw, marks_t<Shape>>::size + marked_t<score, marks_t<Shape>>::size > 0;

// R7: an operand added to scores that is not itself scores is a bias, which must not be masked.
template <class A, class B>
struct added_bias {
  using type = list<>;
  static constexpr bool masked = false;
};
template <class A, class B>
  requires(are_scores<A> != are_scores<B>)
struct added_bias<A, B> {
  using bias = either_t<are_scores<A>, B, A>;
  using type = typename mark_over<biased_for, sorted_t<bias_dims_t<dims_t<bias>>>>::type;
  static constexpr bool masked = any_masked<bias>;
};
// R9: a rotated operand is only added to one with the same rotation; a number is added to every feature.
template <class A, class B>
inline constexpr bool adds_unlike_rotations =
    dims_t<A>::size > 0 && dims_t<B>::size > 0 && !same_set<rotations_t<marks_t<A>>, rotations_t<marks_t<B>>>;

template <class... Shapes>
inline constexpr bool choose_unlike_rotations = false;
template <class First, class... Rest>
inline constexpr bool choose_unlike_rotations<First, Rest...> =
    (adds_unlike_rotations<First, Rest> || ...) || choose_unlike_rotations<Rest...>;

// Operations that select elements of their operands: `Verdict` is that of all operands, a condition included.
template <class Op, class Verdict, class... Shapes>
consteval auto judge_chosen() {
  if constexpr (refused<Verdict> || !choose_unlike_rotations<Shapes...>) {
    return answer<Verdict>{};
  } else {
    if constexpr (((dims_t<Shapes>::size == 0 || has_rotation<Shapes>) && ...)) {
      return answer<error_with_t<ERROR_R9_operands_are_rotated_by_other_positions, Op, Shapes...>>{};
    } else {
      return answer<error_with_t<ERROR_R9_only_one_operand_is_rotated, Op, Shapes...>>{};
    }
  }
}

template <class A, class B>
consteval auto judge_added() {
  using sum = typename decltype(judge_elementwise<op::elementwise, false, A, B>())::type;
  if constexpr (refused<sum>) {
    return answer<sum>{};
  } else if constexpr (logarithms_meet<A, B>) {
    return answer<ERROR_R5_log_probabilities_meet_probabilities<op::elementwise, lhs_t<A>, rhs_t<B>>>{};
  } else if constexpr (adds_unlike_rotations<A, B>) {
    return answer<unlike_rotations_t<A, B, op::elementwise, lhs_t<A>, rhs_t<B>>>{};
  } else if constexpr (added_bias<A, B>::masked) {
    return answer<ERROR_R7_bias_is_masked_instead_of_the_scores<op::elementwise, lhs_t<A>, rhs_t<B>>>{};
  } else {
    return answer<accepted<make_shape_t<dims_t<typename sum::shape>,
                                        join_t<marks_t<typename sum::shape>, typename added_bias<A, B>::type>>>>{};
  }
}

// An added term varies, after a product, along the dimensions of the factor as well.
template <class Mark, class Factor>
struct multiplied_mark {
  using type = list<Mark>;
};
template <class... D, class Factor>
struct multiplied_mark<biased_for<D...>, Factor> {
  using type =
      typename mark_over<biased_for, sorted_t<union_t<list<D...>, typename alternatives_in<Factor>::type>>>::type;
};
template <class Dims, class Marks, class Factor>
struct multiplied;
template <class Dims, class... M, class Factor>
struct multiplied<Dims, list<M...>, Factor> {
  using type = make_shape_t<Dims, join_t<typename multiplied_mark<M, Factor>::type...>>;
};
template <class Shape, class Factor>
using multiplied_t =
    typename either_t<marked_t<biased_for, marks_t<Shape>>::size == 0 || Factor::size == 0, std::type_identity<Shape>,
                      multiplied<dims_t<Shape>, marks_t<Shape>, Factor>>::type;
template <class A, class B>
consteval auto judge_multiplied() {
  constexpr auto product = judge_elementwise<op::elementwise, false, A, B>();
  if constexpr (refused<typename decltype(product)::type>) {
    return product;
  } else {
    return judge_elementwise<op::elementwise, false, multiplied_t<A, dims_t<B>>, multiplied_t<B, dims_t<A>>>();
  }
}

// R5: the mark of a logarithm of normalised values, and of the exponential of log-normalised values.
template <class Mark>
struct logarithm_of {
  using type = list<Mark>;
};
template <class... D>
struct logarithm_of<normalised<D...>> {
  using type = list<log_normalised<D...>>;
};
template <class Mark>
struct exponential_of {
  using type = list<Mark>;
};
template <class... D>
struct exponential_of<log_normalised<D...>> {
  using type = list<normalised<D...>>;
};
// The marks that `Turned` does not change are what a function leaves of them.
template <template <class> class Turned, class Marks>
struct turned_marks;
template <template <class> class Turned, class... M>
struct turned_marks<Turned, list<M...>> {
  template <class Mark>
  using one = either_t<std::is_same_v<typename Turned<Mark>::type, list<Mark>>, kept_marks_t<op::map, shape<Mark>>,
                       typename Turned<Mark>::type>;
  using type = join_t<one<M>...>;
};
template <bool EndsMask, template <class> class Turned, class Shape>
consteval auto judge_turned() {
  constexpr auto verdict = judge_elementwise<op::map, EndsMask, Shape>();
  using judged = typename decltype(verdict)::type;
  if constexpr (refused<judged>) {
    return verdict;
  } else {
    return answer<accepted<make_shape_t<dims_t<Shape>, typename turned_marks<Turned, marks_t<Shape>>::type>>>{};
  }
}

// raw<A> and raw<B> by scaled<A, B> or scaled<summed<A, B>>.
template <class Named, class Raw>
inline constexpr bool names_raw = same_set<Named, Raw>;
template <class... P, class Raw>
inline constexpr bool names_raw<list<summed<P...>>, Raw> =
    same_set<list<summed<P...>>, Raw> || same_set<list<P...>, Raw>;

template <class Marks>
struct raw_to_score;
template <class... M>
struct raw_to_score<list<M...>> {
  template <class Mark>
  struct one {
    using type = Mark;
  };
  template <class... D>
  struct one<raw<D...>> {
    using type = score<D...>;
  };
  using type = list<typename one<M>::type...>;
};

// Named is empty for scaled(s, x) and unscaled(s), which take any raw product.
template <class Op, class Named, class Shape>
consteval auto judge_scaled() {
  using raws = marked_t<raw, marks_t<Shape>>;
  if constexpr (refuses_mark<Op, Shape>) {
    return answer<refused_mark_t<Op, Shape, over_t<Named>, operand_t<Shape>>>{};
  } else if constexpr (raws::size == 0) {
    return answer<ERROR_R6_scaled_takes_raw_products<Op, over_t<Named>, operand_t<Shape>>>{};
  } else if constexpr (Named::size > 0 && !names_raw<Named, raws>) {
    return answer<ERROR_R6_scaled_names_the_contracted_features<Op, over_t<Named>, operand_t<Shape>>>{};
  } else {
    return answer<accepted<make_shape_t<dims_t<Shape>, typename raw_to_score<marks_t<Shape>>::type>>>{};
  }
}

// The product beside a scale of the user's own, which adds parallel dimensions as a mask does: a temperature for each
// sequence of a batch that shares its scores.
template <class Shape, class By>
using beside_scale_t = make_shape_t<join_t<dims_t<Shape>, difference_t<dims_t<By>, dims_t<Shape>>>, marks_t<Shape>>;

// A scale of the user's own: its dimensions are among those of the product, or parallel.
template <class Shape, class By>
consteval auto judge_scaled_by() {
  constexpr auto verdict = judge_scaled<op::scaled, list<>, Shape>();
  if constexpr (!allowed<typename decltype(verdict)::type>) {
    return verdict;
  } else if constexpr (any_masked<By>) {
    return answer<ERROR_R7_masked_values_are_given_to_a_function<op::scaled, lhs_t<Shape>, rhs_t<By>>>{};
  } else if constexpr (indexed_meets<Shape, By>) {
    return answer<error_with_t<ERROR_R18_single_element_meets_its_whole_dimension, op::scaled, Shape, By>>{};
  } else if constexpr (!filter<axes_of_list_t<difference_t<dims_t<By>, dims_t<Shape>>>>::all_parallel ||
                       !all_distinct(axes_of_list_t<dims_t<beside_scale_t<Shape, By>>>{})) {
    return answer<error_with_t<ERROR_R8_neither_has_all_dimensions_of_the_other, op::scaled, Shape, By>>{};
  } else {
    using scores = beside_scale_t<typename decltype(verdict)::type::shape, By>;
    return answer<accepted<multiplied_t<with_indexed_t<scores, By>, dims_t<By>>>>{};
  }
}

}  // namespace detail

namespace rule {

template <class... Shapes>
using elementwise =
    detail::on_ranks<op::elementwise, detail::of_sum, detail::list<>,
                     decltype(detail::judge_elementwise<op::elementwise, false, Shapes...>()), Shapes...>;
/// `Op` rejects masked values: comparisons, `where`, `max`, `min`, `clamp`, `pow`.
template <class Op, class... Shapes>
using elementwise_by = detail::on_ranks<Op, detail::of_sum, detail::list<>,
                                        decltype(detail::judge_elementwise<Op, false, Shapes...>()), Shapes...>;
/// `Op` selects elements of its operands: `max`, `min`, `clamp`, and `where`, which also has a condition.
template <class Op, class... Shapes>
using chosen = typename decltype(detail::judge_chosen<Op, elementwise_by<Op, Shapes...>, Shapes...>())::type;
template <class Condition, class A, class B>
using chosen_by =
    typename decltype(detail::judge_chosen<op::where, elementwise_by<op::where, A, B, Condition>, A, B>())::type;
template <class A, class B>
using added =
    detail::on_ranks<op::elementwise, detail::of_sum, detail::list<>, decltype(detail::judge_added<A, B>()), A, B>;
template <class A, class B>
using multiplied = detail::on_ranks<op::elementwise, detail::of_product, detail::list<>,
                                    decltype(detail::judge_multiplied<A, B>()), A, B>;
template <bool EndsMask, class... Shapes>
using map = detail::on_ranks<op::map, detail::of_sum, detail::list<>,
                             decltype(detail::judge_elementwise<op::map, EndsMask, Shapes...>()), Shapes...>;
/// A quotient: the divisor is not a partial sum.
template <class A, class B>
using divided =
    detail::on_ranks<op::divide, detail::of_quotient, detail::list<>, decltype(detail::judge_multiplied<A, B>()), A, B>;
/// The negative, which is linear.
template <class Shape>
using negated = detail::on_ranks<op::elementwise, detail::of_one, detail::list<>,
                                 decltype(detail::judge_elementwise<op::map, false, Shape>()), Shape>;
/// `exp` and `log`, which convert between `log_normalised` and `normalised`.
template <class Shape>
using exponential = detail::on_ranks<op::map, detail::of_one, detail::list<>,
                                     decltype(detail::judge_turned<true, detail::exponential_of, Shape>()), Shape>;
template <class Shape>
using logarithm = detail::on_ranks<op::map, detail::of_one, detail::list<>,
                                   decltype(detail::judge_turned<false, detail::logarithm_of, Shape>()), Shape>;
template <class Named, class Shape>
using scaled = detail::on_ranks<op::scaled, detail::of_one, detail::named_t<Named>,
                                decltype(detail::judge_scaled<op::scaled, detail::named_t<Named>, Shape>()), Shape>;
template <class Shape, class By>
using scaled_by = detail::on_ranks<op::scaled, detail::of_product, detail::list<>,
                                   decltype(detail::judge_scaled_by<Shape, By>()), Shape, By>;
template <class Shape>
using unscaled = detail::on_ranks<op::unscaled, detail::of_one, detail::list<>,
                                  decltype(detail::judge_scaled<op::unscaled, detail::list<>, Shape>()), Shape>;

}  // namespace rule
}  // namespace dimwise
