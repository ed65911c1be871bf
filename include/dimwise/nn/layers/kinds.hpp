// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/layers/kinds.hpp -- what a module's type names: dimensions by kind, element types, parts (R13).
//
// Layer: nn. A module with an argument that does not belong in its place is one error where its type is used, and no
// formula reports another one. DIMWISE_DETAIL_TAKES declares the module a second time, for such arguments.
// Tests: tests/nn/kinds.test.cpp, tests/compile_fail/nn/
//
//   template <class P, class Model, class T>
//   DIMWISE_DETAIL_TAKES(learned_positions, (P, Model, T), detail::positions<P>, detail::features<Model>) {
//     using learned_positions::refused_module::refused_module;
//     static_assert(sizeof(detail::report<typename learned_positions::error>) > 0);
//   };
#pragma once

#include <dimwise/nn/formula.hpp>
#include <dimwise/nn/members.hpp>

namespace dimwise {

/// In an error: what a module takes in a place of its type.
namespace argument {
struct dimensions;
struct positions;
struct heads;
struct features;
struct features_or_elements;
struct element;
struct bias;
struct activation;
struct attention;
struct feed_forward;
struct norm;
struct layer;
struct order;
struct option;
struct one_preparation;
struct one_of_each_option;
struct nothing {};  // in place of an argument that is not given
}  // namespace argument

// The modules; the operations layer_norm, rms_norm and stack are declared with the marks.
namespace op {
struct linear;
struct feed_forward;
struct gated_feed_forward;
struct embedding;
struct learned_positions;
struct multi_head_attention;
struct self_attention;
struct cross_attention;
struct latent_attention;
struct talking_heads_attention;
struct gru_cell;
struct slot_attention;
struct transformer_block;
struct decoder_layer;
struct encoder_decoder;
struct transformer;
}  // namespace op

namespace nn {

struct int8_blocks;
struct int4_blocks;

namespace detail {

// Arguments of a module in places for one kind, and whether each belongs there.
template <class Kind, class Given, bool... Right>
struct places {
  static constexpr bool right = (Right && ...);
};
template <class... Places>
concept other_arguments = !(Places::right && ...);

// --- dimensions

template <class D, ability Wanted>
inline constexpr bool is_of_kind = false;
template <dimension_type D, ability Wanted>
inline constexpr bool is_of_kind<D, Wanted> = has_any(D::abilities, Wanted);

template <class... D>
using dimensions = places<argument::dimensions, list<D...>, dimension_type<D>...>;
template <class... D>
using positions = places<argument::positions, list<D...>, is_of_kind<D, position_ability>...>;
template <class... D>
using features = places<argument::features, list<D...>, is_of_kind<D, ability::feature>...>;
template <class... D>
using heads = places<argument::heads, list<D...>, is_of_kind<D, ability::parallel>...>;
// Dimensions of one tensor (R17).
template <class... D>
using once = places<void, list<D...>, all_distinct(list<D...>{})>;

// --- element types

template <class T>
inline constexpr bool is_number = real_element<T> || (stored_element<T> && !std::is_same_v<T, int4_pair>);
template <class T>
inline constexpr bool is_blocks = std::is_same_v<T, int8_blocks> || std::is_same_v<T, int4_blocks>;

template <class T>
using element = places<argument::element, list<T>, is_number<T>>;
// The element type of a module whose weights may be quantized.
template <class T>
using weight_element = places<argument::element, list<T>, is_number<T> || is_blocks<T>>;

// --- modules as parts of others, and functions

// A class with a member of one of these names makes it ambiguous here, also if it is a template.
struct names_of_calls {
  void formula();
  void operator()();
  void residual();
};
template <class M>
struct beside_names : M, names_of_calls {};

// The modules of the library say whether they are an attention, a feed-forward layer or a norm. Others may be any.
template <class M, class... Role>
inline constexpr bool has_role = false;
template <class M, class... Role>
  requires requires { typename M::role; }
inline constexpr bool has_role<M, Role...> = is_in<typename M::role, list<Role...>>;

// A class that is complete and may be derived from; no dimension.
template <class M>
concept open_class = std::is_class_v<M> && !dimension_type<M> && requires { sizeof(M); } && !std::is_final_v<M>;
template <class M>
concept has_call = open_class<M> && !requires { &beside_names<M>::operator(); };
template <class M>
concept has_formula = open_class<M> && !requires { &beside_names<M>::formula; };
template <class M>
concept has_residual = open_class<M> && !requires { &beside_names<M>::residual; };
// A module, or a function in place of one. An incomplete class may become one: a module may hold a `stack` of itself.
// A final class cannot be asked.
template <class M>
concept callable_module =
    std::is_class_v<M> && !dimension_type<M> &&
    (lists_members<M> || !requires { sizeof(M); } || std::is_final_v<M> || has_call<M> || has_formula<M>);

template <class... M>
using layers = places<argument::layer, list<M...>, (callable_module<M> && !has_role<M, argument::norm>)...>;
template <class... M>
using parts = places<argument::layer, list<M...>, callable_module<M>...>;
template <class M>
using norm =
    places<argument::norm, list<M>, callable_module<M> && !has_role<M, argument::attention, argument::feed_forward>>;
template <class M>
using attention_module =
    places<argument::attention, list<M>, has_formula<M> && !has_role<M, argument::norm, argument::feed_forward>>;
template <class Order>
using order = places<argument::order, list<Order>, has_residual<Order>>;
// A function without parameters of its own: the module that calls it constructs it.
template <class F>
using activation = places<argument::activation, list<F>, has_call<F> && !lists_members<F>>;

// --- the error

// The arguments that do not belong in their place, what belongs there, and a repeated dimension.
template <class Places>
struct faults_of;
template <class Kind, class... X, bool... Right>
struct faults_of<places<Kind, list<X...>, Right...>> {
  using wrong = join_t<list<>, list_if<!Right, X>...>;
  using wanted = join_t<list<>, list_if<!Right, Kind>...>;
  using twice = list<>;
};
template <class... D, bool Right>
struct faults_of<places<void, list<D...>, Right>> {
  using wrong = list<>;
  using wanted = list<>;
  using twice = either_t<Right, list<>, list<typename dimwise::detail::repeated<list<D...>>::type>>;
};
template <class Op, class Wrong, class Wanted, class Twice>
struct error_of_arguments;
template <class Op, class... Wrong, class... Wanted, class Twice>
struct error_of_arguments<Op, list<Wrong...>, list<Wanted...>, Twice> {
  using type = ERROR_R13_module_takes_arguments_of_other_kinds<Op, over<Wrong...>, declared<Wanted...>>;
};
template <class Op, class... Twice>
struct error_of_arguments<Op, list<>, list<>, list<Twice...>> {
  using type = ERROR_R17_dimension_occurs_twice<Op, over<Twice...>>;
};
template <class Op, class... Places>
using arguments_error = typename error_of_arguments<Op, join_t<typename faults_of<Places>::wrong...>,
                                                    join_t<typename faults_of<Places>::wanted...>,
                                                    join_t<typename faults_of<Places>::twice...>>::type;

// Says the error, which is in its name. Not a base class: clang ignores one that asserts. The condition is an argument,
// as g++ explains others in one more line.
template <class Error, bool Accepted = dimwise::detail::holds<false, Error>>
struct report {
  static_assert(Accepted, "R13, R17: a module takes arguments of these kinds");
};

// The members of a module with other arguments. What uses it adds no second error. It depends on the arguments, as each
// such class raises a flag (tensor/refused_shape.hpp).
template <class Op, class... Places>
struct refused_module : dimwise::detail::refused_members<!other_arguments<Places...>> {
  using error = arguments_error<Op, Places...>;
  using members = member_list<>;
  template <class... X>
  refused_module(const X&...);  // implicit: the type is the only mistake
  static refused_module of(std::size_t);
  template <class... X>
  refusal<already_refused> formula(const X&...) const;
  template <class... X>
  refusal<already_refused> weights_formula(const X&...) const;
  template <class... X>
  already_refused weights(const X&...) const;
  template <class... X>
  already_refused logits(const X&...) const;
  template <class... X>
  already_refused features(const X&...) const;
  template <class... X>
  already_refused compressed(const X&...) const;
  template <class... X>
  already_refused attend(const X&...) const;
};

}  // namespace detail
}  // namespace nn
}  // namespace dimwise

// Follows `template <…>`: the module where an argument does not belong in one of the places. It asserts its error,
// which is not part of the macro: clang would print three lines more.
#define DIMWISE_DETAIL_ARGUMENTS(...) __VA_ARGS__
#define DIMWISE_DETAIL_TAKES(module, arguments, ...)                                                           \
  requires dimwise::nn::detail::other_arguments<__VA_ARGS__> struct module<DIMWISE_DETAIL_ARGUMENTS arguments> \
      : dimwise::nn::detail::refused_module<dimwise::op::module, __VA_ARGS__>
