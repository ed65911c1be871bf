// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/loss_options.hpp -- what a loss takes after predictions and targets, in any order, and the verdicts on
// all of it.
//
// Layer: grad.
// Tests: tests/grad/training/loss.test.cpp, tests/compile_fail/grad/
#pragma once

#include <dimwise/expr/masks/mask.hpp>
#include <dimwise/expr/rows/loss.hpp>
#include <dimwise/grad/tracked.hpp>
#include <dimwise/shape/all_documents.hpp>
#include <dimwise/shape/rules/loss.hpp>

namespace dimwise {

/// Of a loss: (1 − amount) of the target and amount / n of each of the n alternatives (Szegedy et al. 2016).
struct label_smoothing {
  double amount = 0;
};
/// Of a cross-entropy: each position counts as much as its target's alternative weighs: `class_weights(w)`.
template <operand W>
struct class_weights {
  W weights;
  /// One weight for each alternative.
  explicit class_weights(const W& w) : weights(w) {}
};
/// Of a binary cross-entropy: targets of 1 count so often: `positive_weight(w)`.
template <operand W>
struct positive_weight {
  W weights;
  /// The weight of the positive answers.
  explicit positive_weight(const W& w) : weights(w) {}
  /// The same weight for all.
  template <class Number>
    requires std::is_arithmetic_v<Number>
  explicit positive_weight(Number w) : weights(static_cast<double>(w)) {}
};
template <class Number>
  requires std::is_arithmetic_v<Number>
positive_weight(Number) -> positive_weight<tensor<double>>;
/// Of a divergence: both are divided by it, and the loss is multiplied by its square (Hinton, Vinyals and Dean 2015).
struct temperature {
  double value = 1;
};

namespace detail {

// ---- the options of a loss, in any order ---------------------------------------------------------------------------

template <class X>
inline constexpr bool is_class_weights = false;
template <class W>
inline constexpr bool is_class_weights<class_weights<W>> = true;
template <class X>
inline constexpr bool is_positive_weight = false;
template <class W>
inline constexpr bool is_positive_weight<positive_weight<W>> = true;

template <class X>
concept loss_mask = mask<X>;
template <class X>
concept where_it_counts = loss_mask<X> || std::is_same_v<X, all_documents> || unclear_mask<X>;
template <class X>
concept option_of_alternatives = where_it_counts<X> || is_class_weights<X> || std::is_same_v<X, label_smoothing>;
template <class X>
concept option_of_divergence = where_it_counts<X> || std::is_same_v<X, temperature>;
template <class X>
concept option_of_binary = where_it_counts<X> || is_positive_weight<X>;

// Each option once: a second one would be ignored.
template <class... Given>
concept options_once =
    (std::is_same_v<Given, label_smoothing> + ... + 0) < 2 && (std::is_same_v<Given, temperature> + ... + 0) < 2 &&
    (std::is_same_v<Given, all_documents> + ... + 0) < 2 && (is_class_weights<Given> + ... + 0) < 2 &&
    (is_positive_weight<Given> + ... + 0) < 2;

template <class Option, class... Given>
inline constexpr bool is_given = (std::is_same_v<Option, Given> || ...);

// The option of that type, or as it is where it is not said.
template <class Option>
Option option_of(const Option& otherwise) {
  return otherwise;
}
template <class Option, class First, class... More>
Option option_of(const Option& otherwise, const First& first, const More&... more) {
  if constexpr (std::is_same_v<Option, First>) {
    return first;
  } else {
    return option_of(otherwise, more...);
  }
}

inline auto everywhere() { return constant<bool>({true}, {}); }

// Where a loss counts: the elements of its masks, in memory, or true.
template <class Rest, class Extents>
auto counted_places(const Extents&) {
  return everywhere();
}
template <class Rest, class Extents, class First, class... More>
auto counted_places(const Extents& e, const First& first, const More&... more) {
  if constexpr (loss_mask<First>) {
    static_assert(!(loss_mask<More> || ...), "dimwise: several masks of a loss are one, joined by &");
    using shape = make_shape_t<typename First::facts::dims, list<>>;
    const auto extents = extents_from<shape>("loss", e, brought_extents(first));
    first.check(extents, "loss");
    return tensor(indicator_node<shape, bool, First>({}, extents, first));
  } else {
    return counted_places<Rest>(e, more...);
  }
}
// The weights of a loss, or 1.
template <class T>
auto weights_among() {
  return make_constant<T>(1);
}
template <class T, class First, class... More>
auto weights_among(const First& first, const More&... more) {
  if constexpr (requires { first.weights; }) {
    return first.weights;
  } else {
    return weights_among<T>(more...);
  }
}

// Weights have the extents of what they weigh. One below 0, infinite or NaN turns a loss around or makes it NaN; what a
// mask hides may be NaN.
template <class X, class W>
void check_weights(const char* name, const X& weighed, const W& weights, bool may_hide_nan) {
  (void)merge_extents<both_atoms_t<X, W>>(name, weighed.extents(), weights.extents());
  if constexpr (!is_tracked<W> && std::is_arithmetic_v<value_of<W>>) {
    const tensor values(weights);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto w = values.data()[i];
      if (w < 0 || (w - w != 0 && !(w != w && may_hide_nan))) {
        raise<number_error>(error{} << name << ": a weight is " << static_cast<double>(w)
                                    << ", a finite number of 0 or more is expected (R22)");
      }
    }
  }
}

// Shapes of the masks, and of the weights, among the options: for the rule.
template <class X>
auto mask_shape_of(const X&) -> list<>;
template <loss_mask X>
auto mask_shape_of(const X&) -> list<make_shape_t<typename X::facts::dims, list<>>>;
template <class X>
auto weight_shape_of(const X&) -> list<>;
template <class X>
  requires(is_class_weights<X> || is_positive_weight<X>)
auto weight_shape_of(const X& x) -> list<shape_of<decltype(x.weights)>>;
template <class... X>
using mask_shapes = join_t<decltype(mask_shape_of(std::declval<const X&>()))...>;
template <class... X>
using weight_shapes = join_t<decltype(weight_shape_of(std::declval<const X&>()))...>;

template <class Op, class Verdict, class Allowed, class Shapes, bool OfClasses = false>
struct weighed_verdict;
template <class Op, class Verdict, class Allowed, class... Shapes>
struct weighed_verdict<Op, Verdict, Allowed, list<Shapes...>> {
  using type = rule::loss_weights<Op, Verdict, Allowed, Shapes...>;
};
template <class Op, class Verdict, class Alternatives, class... Shapes>
struct weighed_verdict<Op, Verdict, Alternatives, list<Shapes...>, true> {
  using type = rule::class_weights<Op, Verdict, Alternatives, Shapes...>;
};
// The verdict on a loss of X with an option that is given for a mask by mistake.
template <class Op, class Verdict, class X, class Option>
struct with_mask {
  using type = Verdict;
};
template <class Op, allowed Verdict, class X, unclear_mask Option>
struct with_mask<Op, Verdict, X, Option> {
  using type = unclear_mask_error_t<Op, Option, X>;
};
template <class Op, class Verdict, class X, class... Options>
struct with_masks {
  using type = Verdict;
};
template <class Op, class Verdict, class X, class First, class... More>
struct with_masks<Op, Verdict, X, First, More...>
    : with_masks<Op, typename with_mask<Op, Verdict, X, First>::type, X, More...> {};
// The verdict on a loss of X over `Elements` with its options.
template <class Op, class Verdict, class X, class Elements, class Weighed, class... Options>
using with_options = typename with_masks<
    Op,
    typename weighed_verdict<Op, typename weighed_verdict<Op, Verdict, Elements, mask_shapes<Options...>>::type,
                             Weighed, weight_shapes<Options...>, (is_class_weights<Options> || ...)>::type,
    X, Options...>::type;

// ---- verdicts ------------------------------------------------------------------------------------------------------

template <class X>
struct ids_in {
  using type = nothing;
};
template <class D>
struct ids_in<id<D>> {
  using type = D;
};
template <class X>
using ids_of_t = typename ids_in<value_of<X>>::type;

template <class X>
inline constexpr bool is_sigmoid = false;
template <class Shape, class T, class E>
inline constexpr bool is_sigmoid<elementwise<Shape, T, fn::sigmoid, E>> = true;
// The logits of two alternatives are no probabilities, as far as a type says it.
template <class Op, class Verdict, class X>
using with_logits =
    std::conditional_t<std::is_same_v<Op, op::binary_cross_entropy> && allowed<Verdict> && is_sigmoid<X>,
                       ERROR_R22_logits_are_probabilities<Op, operand_t<shape_of<X>>>, Verdict>;

// Targets are constants, no gradient is sent there; but for the logits of a teacher.
template <class Op, class X>
inline constexpr bool is_trained_target =
    is_tracked<X> && !(std::is_same_v<Op, op::kl_divergence> && marked_t<normalised, marks_t<shape_of<X>>>::size == 0);

// A divergence goes from a constant, or learning, teacher to the student that learns.
template <class Op, class X, class... Targets>
inline constexpr bool is_exchanged =
    std::is_same_v<Op, op::kl_divergence> && !is_tracked<X> && (is_tracked<Targets> || ...);

template <class Op, class Verdict, class X, class... Constants>
consteval auto judge_constants() {
  if constexpr (allowed<Verdict> && is_exchanged<Op, X, Constants...>) {
    return answer<ERROR_R22_student_and_teacher_are_exchanged<Op, lhs_t<shape_of<X>>, rhs_t<shape_of<Constants>>...>>{};
  } else if constexpr (allowed<Verdict> && (is_trained_target<Op, Constants> || ...)) {
    return answer<ERROR_R21_operation_has_no_gradient<Op, rhs_t<shape_of<Constants>>...>>{};
  } else {
    return answer<Verdict>{};
  }
}
template <class Op, class Verdict, class X, class... Constants>
using with_constants = typename decltype(judge_constants<Op, Verdict, X, Constants...>())::type;

// Targets are ids, or real numbers.
template <class Op, class Verdict, class Y>
struct judged_targets {
  using type = of_numbers<Op, Verdict, Y>;
};
template <class Op, class Verdict, class Y>
  requires(!std::is_same_v<ids_of_t<Y>, nothing>)
struct judged_targets<Op, Verdict, Y> {
  using type = Verdict;
};
template <class Op, class Verdict, class Y>
using of_targets = typename judged_targets<Op, Verdict, Y>::type;

// Numbers of alternatives that do not say of which dimension.
template <class Y>
inline constexpr bool is_bare_numbers = std::is_integral_v<value_of<Y>> && !std::is_same_v<value_of<Y>, bool>;
template <class Op, class V, class Named, class X, class Y, class... Options>
struct judged_alternatives;
template <class Op, class V, class Named, class X, class Y, class... Options>
using alternatives_verdict = typename judged_alternatives<Op, V, Named, X, Y, Options...>::type;
template <class Op, class V, class Named, class X, class Y, class... Options>
  requires is_bare_numbers<Y>
struct judged_alternatives<Op, V, Named, X, Y, Options...> {
  using type = ERROR_R18_ids_index_their_own_dimension_only<Op, over_t<list<V>>, over<value_of<Y>>>;
};
template <class Op, class V, class Named, class X, class Y, class... Options>
  requires(!is_bare_numbers<Y>)
struct judged_alternatives<Op, V, Named, X, Y, Options...> {
  using type = with_constants<
      Op,
      with_options<Op,
                   of_targets<Op,
                              of_scores<Op,
                                        rule::loss_of_alternatives<Op, V, Named, shape_of<X>, ids_of_t<Y>, shape_of<Y>,
                                                                   is_given<all_documents, Options...>>,
                                        X>,
                              Y>,
                   X, difference_t<dims_t<shape_of<X>>, list<V>>, list<V>, Options...>,
      X, Y>;
};
// A loss has the elements of the model, and so of the predictions: targets with wider ones would widen it.
template <class Op, class Verdict, class X, class Y>
consteval auto judge_widened() {
  if constexpr (allowed<Verdict> && is_tracked<X> && real_element<untracked_t<value_of<Y>>>) {
    using wider = std::common_type_t<untracked_t<value_of<X>>, untracked_t<value_of<Y>>>;
    if constexpr (std::is_same_v<wider, untracked_t<value_of<X>>>) {
      return answer<Verdict>{};
    } else {
      return answer<
          ERROR_R21_loss_has_other_elements_than_the_model<Op, declared<untracked_t<value_of<X>>>, computed<wider>>>{};
    }
  } else {
    return answer<Verdict>{};
  }
}
template <class Op, class Verdict, class X, class Y>
using of_elements = typename decltype(judge_widened<Op, Verdict, X, Y>())::type;

template <class Op, class Named, class X, class Y, class... Options>
using pairs_verdict = of_elements<
    Op,
    with_options<
        Op,
        of_numbers<
            Op,
            with_logits<
                Op, rule::loss_of_pairs<Op, Named, shape_of<X>, shape_of<Y>, is_given<all_documents, Options...>>, X>,
            X, Y>,
        X, dims_t<shape_of<X>>, dims_t<shape_of<X>>, Options...>,
    X, Y>;

}  // namespace detail

}  // namespace dimwise
