// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/misused.hpp -- fallback overloads for wrong arguments: one error instead of a list of candidates.
//
// Layer: tensor. DIMWISE_DETAIL_OPERATION (expr/operation.hpp) includes it; operations declared by hand add it.
// Tests: tests/compile_fail/arguments/, tests/expr/name_lookup.test.cpp
#pragma once

#include <dimwise/shape/verdict.hpp>
#include <dimwise/tensor/refused_shape.hpp>

namespace dimwise {

/// In an error: a number given instead of a dimension.
template <auto... Number>
struct number_arguments;

/// In an error: the argument that a call lacks.
namespace argument {
struct bias;
struct element;
struct function;
struct ids;
struct limit;
struct mask;
struct second_operand;
struct values;
}  // namespace argument

// Operations without a row in the table of marks.
namespace op {
struct abs;
struct exp;
struct log;
struct sqrt;
struct sin;
struct cos;
struct tanh;
struct erf;
struct relu;
struct gelu;
struct gelu_tanh;
struct silu;
struct sigmoid;
struct softplus;
struct square;
struct indicator;
struct allow_of;
struct split_ids;
struct ids_of;  // NOLINT(bugprone-forward-declaration-namespace): the other ids_of is not an operation
struct sinusoid;
struct rotary_frequencies;
struct relative_ids;
struct relative_bias;
struct widened;
struct random_uniform;
struct random_normal;
struct next_word_loss;
struct gradient;
struct extent_of;
struct starting_at;
struct next;
struct size_of;
struct describe;
struct evaluate;
struct reference;
struct attention;
struct attention_weights;
struct attention_with_sinks;
struct partial_attention;
struct attend;
struct assign_at;
struct unstack;
struct keep_window;
struct kept_window;
struct at_once;
struct adopt;
struct limit;
struct restart;
struct within;
struct keys_of;
struct values_of;
struct page_count;
struct shared_pages;
struct initialise;
}  // namespace op

}  // namespace dimwise

// An ellipsis is the worst conversion: the first two overloads are chosen only if no other function of the library or
// the user is viable. A tensor of a rejected type is taken by value, so that compilers complete its type in the user's
// line; the call adds no second error. A data member of another library is reported instead of the call.
#define DIMWISE_DETAIL_MISUSED(word)                                                                          \
  template <class... D, class Error = ERROR_R1_operation_takes_other_arguments<op::word, over<D...>>>         \
  Error word(...);                                                                                            \
  template <auto First, auto... More,                                                                         \
            class Error = ERROR_R1_operation_names_its_dimension<op::word, number_arguments<First, More...>>> \
  Error word(...);                                                                                            \
  template <class... D, class... Given>                                                                       \
    requires(detail::refused_operand<Given> || ...)                                                           \
  detail::already_refused word(Given...);                                                                     \
  template <class... D, class... Given>                                                                       \
    requires(detail::is_other_data<Given> || ...)                                                             \
  DIMWISE_DETAIL_RESULT(detail::other_data_error<Given...>)                                                   \
  word(const Given&...) DIMWISE_DETAIL_SAYS(detail::other_data_error<Given...>);
