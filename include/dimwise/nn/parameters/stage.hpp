// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/parameters/stage.hpp -- modules that are one stage of a pipeline: each rank along a mesh axis has other
// parameters.
//
// Layer: nn. A shard says in the type of a parameter that ranks have parts of it. Parameters of a stage are whole, and
// on the ranks of one stage only, so the module says it: norms and files of the whole model need the other stages.
// Tests: tests/ranks/training/stages.test.cpp, tests/compile_fail/stages/
//
//   template <class T = float>
//   struct stage_of_gpt {
//     using stage_along = pp;      // a mesh_axis
//     using tied = nn::member_list<&stage_of_gpt::words>;   // members that several stages have: copies of one another
//     …
//   };
#pragma once

#include <dimwise/dim/shard.hpp>
#include <dimwise/nn/parameters.hpp>

#include <string_view>
#include <type_traits>

namespace dimwise::detail {

// The mesh axis that a module names as that of its stages, as a list; empty if it names none.
template <class M>
struct stage_axis {
  using type = list<>;
};
template <class M>
  requires requires { requires mesh_axis_type<typename M::stage_along>; }
struct stage_axis<M> {
  using type = list<typename M::stage_along>;
};
template <class M>
using stage_axis_t = typename stage_axis<M>::type;

// The axes of the stages among a model and its members.
template <class M>
consteval auto stages_in_model() {
  if constexpr (nn::detail::is_sequence<M>) {
    return stages_in_model<typename M::value_type>();
  } else if constexpr (nn::detail::is_tuple<M> || nn::module<M>) {
    return []<class... Part>(list<Part...>) {
      return unique_t<join_t<stage_axis_t<M>, decltype(stages_in_model<Part>())...>>{};
    }(nn::detail::parts_t<M>{});
  } else {
    return list<>{};
  }
}
// The mesh axes that divide parameters of a model.
template <class M>
consteval auto axes_of_parameters() {
  if constexpr (nn::detail::is_any_parameter<M>) {
    return mesh_axes_of_list_t<dims_t<typename M::shape_type>>{};
  } else if constexpr (nn::detail::is_sequence<M>) {
    return axes_of_parameters<typename M::value_type>();
  } else if constexpr (nn::detail::is_tuple<M> || nn::module<M>) {
    return []<class... Part>(list<Part...>) {
      return unique_t<join_t<list<>, decltype(axes_of_parameters<Part>())...>>{};
    }(nn::detail::parts_t<M>{});
  } else {
    return list<>{};
  }
}
template <class M>
using axes_of_parameters_t = decltype(axes_of_parameters<M>());
// These, and those of which each rank has one stage.
template <class M>
using mesh_axes_of_model_t = unique_t<join_t<decltype(stages_in_model<M>()), axes_of_parameters_t<M>>>;

// The names of the members that several stages have, up to a null pointer; null if the module names none.
template <class List>
struct tied_names {
  static constexpr const char* const* all = nullptr;
};
template <auto First, auto... More>
struct tied_names<nn::member_list<First, More...>> {
  static constexpr const char* names[] = {nn::detail::name_of_member<First>.data(),
                                          nn::detail::name_of_member<More>.data()..., nullptr};
  static constexpr const char* const* all = names;
};
template <class M>
struct tied_members {
  using type = void;
};
template <class M>
  requires requires { typename M::tied; } && (stage_axis_t<M>::size > 0)
struct tied_members<M> {
  using type = typename M::tied;
};
template <class M>
inline constexpr const char* const* names_of_tied = tied_names<typename tied_members<M>::type>::all;
// Whether a member, which may be null, is among these names.
constexpr bool is_among_tied(const char* const* tied, const char* member) {
  if (tied == nullptr || member == nullptr) { return false; }
  for (; *tied != nullptr; ++tied) {
    if (std::string_view(*tied) == member) { return true; }
  }
  return false;
}

// A model that is a stage as a whole, or of which no member is one.
template <class M>
inline constexpr bool names_its_stages = std::is_same_v<decltype(stages_in_model<M>()), stage_axis_t<M>>;

// A model of which the ranks have all parameters, or parts of them by the types of these parameters.
template <class M>
concept in_one_stage = decltype(stages_in_model<M>())::size == 0;

}  // namespace dimwise::detail
