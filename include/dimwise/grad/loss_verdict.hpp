// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/loss_verdict.hpp -- whether a loss has a gradient by a model.
//
// Layer: grad. The model has parameters that can be tracked, the loss takes it with tracked elements, and gives one
// tracked number (R21, R23).
// Tests: tests/grad/gradient.test.cpp, tests/compile_fail/grad/
#pragma once

#include <dimwise/grad/average.hpp>
#include <dimwise/grad/parameters/tracked_model.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace dimwise::detail {

// An average over shards: each rank has terms of its sum and of its count.
template <class X>
inline constexpr bool is_partial_average = false;
template <class T, class... D>
inline constexpr bool is_partial_average<average<T, D...>> = average<T, D...>::is_partial;

// A loss as one number: the mean of an average. Over shards it is the sum, as no rank knows the count.
template <class X>
decltype(auto) one_number(X&& x) {
  if constexpr (is_partial_average<std::remove_cvref_t<X>>) {
    return x.sum;
  } else if constexpr (is_average<std::remove_cvref_t<X>>) {
    return x.mean();
  } else {
    return static_cast<X&&>(x);
  }
}

// A loss that forgot its `return`.
struct loss_gives_no_value;

// A number, or one rank's term of it.
template <class Shape>
inline constexpr bool is_number_or_term = is_plain_number<Shape>;
template <class Shape>
  requires(dims_t<Shape>::size == 0 && is_placed<Shape>)
inline constexpr bool is_number_or_term<Shape> = without_partial<marks_t<stored_t<Shape>>>::type::size == 0;

// The model that a loss is given, or why there is none (R21).
template <class M>
consteval auto judge_model() {
  using T = model_element<M>;
  if constexpr (nn::detail::holds_refused<M>()) {
    return answer<already_refused>{};
  } else if constexpr (std::is_void_v<T>) {
    return answer<ERROR_R21_model_has_no_parameters<M>>{};
  } else if constexpr (is_tracked_type<T>) {
    return answer<ERROR_R21_gradients_of_gradients_are_not_recorded<M>>{};
  } else if constexpr (decltype(part_without_elements<M, rebind<tracked<T>, M>>())::size > 0) {
    return part_error(part_without_elements<M, rebind<tracked<T>, M>>());
  } else {
    return answer<accepted<rebind<tracked<T>, M>>>{};
  }
}
// The loss of a model that was rejected where its type was written has elements of no type.
template <class M>
using number_of_loss = std::conditional_t<nn::detail::holds_refused<M>(), already_refused, model_element<M>>;
template <class M>
using model_verdict = typename decltype(judge_model<M>())::type;

// The result of a loss. Compilers print the path to an error in the loss's own lines: the call of the user and this
// declaration alone.
template <class Loss, class Model, bool Takes = takes<Loss, Model>()>
auto given_by(const Loss& loss, std::type_identity<accepted<Model>>)
    -> std::type_identity<decltype(loss(std::declval<const Model&>()))>;
template <class Loss>
auto given_by(const Loss& loss, ...) -> std::type_identity<is_not_called>;
template <class M>
inline constexpr std::type_identity<model_verdict<M>> model_of_loss{};

// Whether a loss that gives `Given` has a gradient by a model (R21). The accepted shape has the marks of a loss that is
// a partial sum.
template <class M, class Loss, class Verdict, class Given>
consteval auto judge_loss() {
  if constexpr (refused<Verdict>) {
    return answer<Verdict>{};
  } else if constexpr (std::is_same_v<Given, is_not_called>) {
    if constexpr (is_lambda_that_takes<Loss, typename Verdict::shape>()) {
      return answer<already_refused>{};  // its body does not compile, and compilers have said so
    } else {
      return answer<ERROR_R21_loss_takes_the_model_with_tracked_elements<over<typename Verdict::shape>>>{};
    }
  } else if constexpr (std::is_void_v<Given> && was_raised<refused_type, Loss>) {
    return answer<already_refused>{};  // clang 14 gives no value where the body has a variable of a rejected type
  } else if constexpr (std::is_void_v<Given>) {
    return answer<loss_gives_no_value>{};
  } else {
    using loss = std::remove_cvref_t<decltype(one_number(std::declval<Given>()))>;
    if constexpr (std::is_same_v<loss, already_refused>) {
      return answer<already_refused>{};
    } else if constexpr (!operand<loss>) {
      return answer<ERROR_R21_loss_has_no_tracked_operand<loss>>{};
    } else if constexpr (!is_tracked<loss>) {
      return answer<ERROR_R21_loss_has_no_tracked_operand<operand_t<shape_of<loss>>>>{};
    } else if constexpr (!is_number_or_term<shape_of<loss>>) {
      return answer<ERROR_R21_loss_is_one_number<operand_t<shape_of<loss>>>>{};
    } else if constexpr (!std::is_same_v<value_of<loss>, tracked<model_element<M>>>) {
      return answer<ERROR_R21_loss_has_other_elements_than_the_model<op::gradient, declared<model_element<M>>,
                                                                     computed<untracked_t<value_of<loss>>>>>{};
    } else {
      return answer<accepted<stored_t<shape_of<loss>>>>{};
    }
  }
}
// The same where a loss must not be a partial sum: its value or its gradient is used before a reduction (R23).
template <class Verdict>
struct of_whole_loss {
  using type = Verdict;
};
template <class Shape>
  requires(is_placed<Shape>)
struct of_whole_loss<accepted<Shape>> {
  using type =
      typename placed_error<ERROR_R23_partial_sum_is_reduced_first, op::gradient, list<>, list<operand_t<Shape>>>::type;
};
template <class Verdict>
using of_whole_loss_t = typename of_whole_loss<Verdict>::type;
template <class M, class Loss, class Given>
using whole_loss_verdict = of_whole_loss_t<typename decltype(judge_loss<M, Loss, model_verdict<M>, Given>())::type>;
template <class M, class Loss>
using loss_verdict = typename decltype(judge_loss<M, Loss, model_verdict<M>,
                                                  typename decltype(given_by(std::declval<const Loss&>(),
                                                                             model_of_loss<M>))::type>())::type;
// A loss that was rejected in its own lines: nothing more is said, here or where its gradient is used.
template <class Verdict>
concept refused_before = std::is_same_v<Verdict, already_refused>;
template <class Verdict>
concept refused_here = refused<Verdict> && !refused_before<Verdict>;

}  // namespace dimwise::detail
