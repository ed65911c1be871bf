// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/layers/kinds.hpp -- the kinds of dimensions that modules take: positions, heads, features (R13).
//
// Layer: nn. A module whose arguments have kinds is declared a second time for dimensions of other kinds: exchanged
// dimensions are one error where the type of the module is used, and no formula reports another one.
// Tests: tests/nn/kinds.test.cpp, tests/compile_fail/nn/
//
//   template <class P, class Model, class T>
//     requires detail::other_kinds<detail::positions<P>, detail::features<Model>>
//   struct learned_positions<P, Model, T>
//       : detail::refused_module<op::learned_positions, detail::positions<P>, detail::features<Model>> {
//     static_assert(sizeof(detail::report<typename learned_positions::error>) > 0);
//   };
#pragma once

#include <dimwise/nn/formula.hpp>
#include <dimwise/nn/members.hpp>

namespace dimwise {

/// In an error: the kind of dimension that a module takes.
namespace argument {
struct positions;
struct heads;
struct features;
}  // namespace argument

namespace nn::detail {

template <class D, ability Wanted>
inline constexpr bool is_of_kind = false;
template <dimension_type D, ability Wanted>
inline constexpr bool is_of_kind<D, Wanted> = has_any(D::abilities, Wanted);

// The dimensions D of a module that are of another kind, and the kind that each of them should have.
template <class Kind, ability Wanted, class... D>
struct dimensions_of {
  using wrong = join_t<list<>, list_if<!is_of_kind<D, Wanted>, D>...>;
  using wanted = join_t<list<>, list_if<!is_of_kind<D, Wanted>, Kind>...>;
};
template <class... D>
using positions = dimensions_of<argument::positions, position_ability, D...>;
template <class... D>
using features = dimensions_of<argument::features, ability::feature, D...>;
// Heads is a heads dimension, or a layout of heads.
template <class... H>
using heads = dimensions_of<argument::heads, ability::parallel, H...>;

template <class... Given>
concept other_kinds = (join_t<typename Given::wrong...>::size > 0);

template <class Op, class Wrong, class Wanted>
struct error_of_kinds;
template <class Op, class... Wrong, class... Wanted>
struct error_of_kinds<Op, list<Wrong...>, list<Wanted...>> {
  using type = ERROR_R13_module_takes_arguments_of_other_kinds<Op, over<Wrong...>, declared<Wanted...>>;
};
template <class Op, class... Given>
using kinds_error =
    typename error_of_kinds<Op, join_t<typename Given::wrong...>, join_t<typename Given::wanted...>>::type;

// Says the error, which is in its name. Not a base class: clang ignores one that asserts. The condition is an argument,
// as g++ explains others in one more line.
template <class Error, bool Accepted = dimwise::detail::holds<false, Error>>
struct report {
  static_assert(Accepted, "R13: a module takes dimensions of these kinds");
};

// The members of a module of dimensions of other kinds. What uses it adds no second error.
template <class Op, class... Given>
struct refused_module : dimwise::detail::refused_members<!other_kinds<Given...>> {
  using error = kinds_error<Op, Given...>;
  using members = member_list<>;
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

}  // namespace nn::detail
}  // namespace dimwise
