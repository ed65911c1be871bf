// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/parameters/initialise_checks.hpp -- what `initialise` accepts: a model, what draws weights, all extents.
//
// Layer: nn. Everything else is a compile error (R1, R15, R21, R24, R25).
// Tests: tests/nn/parameters.test.cpp, tests/compile_fail/nn/
#pragma once

#include <dimwise/nn/parameters.hpp>
#include <dimwise/nn/parameters/drawn.hpp>
#include <dimwise/nn/parameters/stage.hpp>

#include <cstddef>
#include <type_traits>

namespace dimwise::nn::detail {

// Whether How draws a weight of that many inputs and outputs.
template <class How>
concept draws_weights = is_draws_parts<How> || requires(How& how, std::size_t n) { static_cast<double>(how(n, n)); };

// A type with a function of its own decides what draws its weights, and needs no list of members.
template <class M, class How, class... Extents>
concept initialises_itself = std::is_class_v<How> && requires(M& m, How& how, const Extents&... extents) {
  m.initialise_parameters(how, extents...);
};

// Whether a module has no `initialise_parameters`, or one that passes `how` and the extents on, and says so
// (`static constexpr bool passes_on = true;`).
template <class M, class How, class... Extents>
inline constexpr bool is_passed_on = !initialises_itself<M, How, Extents...> && !initialises_itself<M, How>;
template <class M, class How, class... Extents>
  requires(requires { requires M::passes_on; })
inline constexpr bool is_passed_on<M, How, Extents...> = true;

// The types of the parameters that `initialise` draws, and of the modules that draw theirs without passing on.
template <class M, class How, class... Extents>
consteval auto drawn_types() {
  if constexpr (is_any_parameter<M>) {
    return list<M>{};
  } else if constexpr (is_sequence<M>) {
    return drawn_types<typename M::value_type, How, Extents...>();
  } else if constexpr (!is_passed_on<M, How, Extents...>) {
    return list<M>{};
  } else if constexpr (is_tuple<M> || module<M>) {
    return []<class... Part>(list<Part...>) {
      return unique_t<join_t<list<>, decltype(drawn_types<Part, How, Extents...>())...>>{};
    }(parts_t<M>{});
  } else {
    return list<>{};
  }
}
template <class X>
struct drawn_facts {
  using extents = list<>;
  using axes = axes_of_parameters_t<X>;  // of a module that draws its parameters itself
};
template <class X>
  requires is_any_parameter<X>
struct drawn_facts<X> {
  template <class... A>
  static auto whole(list<A...>) -> join_t<list<>, list_if<whole_t<A>::static_extent == at_run_time, whole_t<A>>...>;
  using extents = decltype(whole(run_time_atoms_t<typename X::shape_type>{}));
  using axes = list<>;
};

// R24, R25: ranks divide the parameters along these axes, so the first argument after `how` is a mesh that has them.
template <class Axes, class First, class...>
consteval auto judge_mesh() {
  if constexpr (is_extents_on_rank<First>) {  // an `initialise_parameters` hands it on to its members
    return answer<accepted<shape<>>>{};
  } else if constexpr (!is_mesh<First>) {
    return answer<ERROR_R24_draw_of_a_divided_model_takes_the_mesh<op::initialise, over_t<Axes>>>{};
  } else if constexpr (!is_subset<Axes, axes_of_mesh_t<First>>) {
    return answer<ERROR_R25_mesh_has_no_such_axis<op::initialise, over_t<Axes>, First>>{};
  } else {
    return answer<accepted<shape<>>>{};
  }
}
// Extents, or a mesh and whole extents.
template <class... Given>
inline constexpr bool are_extents = true;
template <class First, class... Given>
inline constexpr bool are_extents<First, Given...> =
    is_extents_on_rank<First> ? sizeof...(Given) == 0
    : is_mesh<First>          ? (dimension_type<Given> && ...) && !(is_shard<Given> || ...)
                              : dimension_type<First> && (dimension_type<Given> && ...);
// R15, R24: every run-time extent is given, and what ranks divide is drawn as a whole. Extents that a module passes on
// have been judged.
template <class Drawn, bool OnRanks, class... Extents>
struct judge_drawn;
template <class... X, bool OnRanks, class... Extents>
struct judge_drawn<list<X...>, OnRanks, Extents...> {
  using needed = unique_t<join_t<list<>, typename drawn_facts<X>::extents...>>;
  using axes = unique_t<join_t<list<>, typename drawn_facts<X>::axes...>>;
  template <class... D>
  static auto lacks(list<D...>)
      -> ERROR_R15_run_time_extents_are_given_once<op::initialise, over<about_t<D>...>, over<Extents...>>;
  static consteval auto verdict() {
    if constexpr (OnRanks && axes::size > 0) {
      return answer<ERROR_R24_divided_parameters_are_drawn_by_initialise<op::initialise, over_t<axes>>>{};
    } else if constexpr (!is_subset<needed, list<Extents...>>) {
      return answer<decltype(lacks(needed{}))>{};
    } else {
      return answer<accepted<shape<>>>{};
    }
  }
};
template <class Drawn, class... Given>
struct judge_given : judge_drawn<Drawn, false, Given...> {};
template <class Drawn, class First, class... Whole>
  requires is_mesh<First>
struct judge_given<Drawn, First, Whole...> : judge_drawn<Drawn, true, Whole...> {};
template <class Drawn, class Mesh, class... Whole>
struct judge_given<Drawn, extents_on_rank<Mesh, Whole...>> : judge_drawn<list<>, true> {};

// R1, R15, R21, R24, R25: a model, a function that draws its weights, a mesh if ranks divide the model, and extents as
// objects of their dimension.
template <class M, class How, class... Given>
consteval auto judge_initialise() {
  constexpr bool by_itself = initialises_itself<std::remove_const_t<M>, How, Given...>;
  using divided = axes_of_parameters_t<std::remove_const_t<M>>;
  if constexpr (!by_itself && !modules<std::remove_const_t<M>> && !is_any_parameter<std::remove_const_t<M>>) {
    return answer<not_a_module<op::initialise, M>>{};
  } else if constexpr (std::is_const_v<M>) {
    return answer<ERROR_R1_operation_takes_other_arguments<op::initialise, M>>{};
  } else if constexpr (!by_itself && !draws_weights<How>) {
    return answer<ERROR_R1_operation_takes_other_arguments<op::initialise, How>>{};
  } else if constexpr (!are_extents<Given...>) {
    return answer<ERROR_R1_operation_takes_other_arguments<op::initialise, M, How, Given...>>{};
  } else if constexpr (divided::size > 0 && refused<typename decltype(judge_mesh<divided, Given..., void>())::type>) {
    return judge_mesh<divided, Given..., void>();
  } else {
    using judged = judge_given<decltype(drawn_types<std::remove_const_t<M>, How, Given...>()), Given...>;
    if constexpr (refused<typename decltype(judged::verdict())::type>) {
      return judged::verdict();
    } else {
      return answer<accepted<M>>{};
    }
  }
}
template <class M, class How, class... Given>
using initialise_verdict = typename decltype(judge_initialise<M, std::remove_cvref_t<How>, Given...>())::type;

}  // namespace dimwise::nn::detail
