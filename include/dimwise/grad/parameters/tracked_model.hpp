// SPDX-License-Identifier: BSL-1.0
// dimwise/grad/parameters/tracked_model.hpp -- a model with tracked parameters, which a loss is called with.
//
// Layer: grad. The parts of a model that cannot be tracked are found by types, so that each is a compile error (R21).
// Tests: tests/grad/gradient.test.cpp, tests/compile_fail/grad/
#pragma once

#include <dimwise/grad/tracked.hpp>
#include <dimwise/nn/model.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace dimwise::detail {

// The real type of a model's parameters: the first one's.
template <class M>
consteval auto element_type_of();
inline consteval auto first_element_type(list<>) { return std::type_identity<void>{}; }
template <class First, class... More>
consteval auto first_element_type(list<First, More...>) {
  using here = decltype(element_type_of<First>());
  if constexpr (std::is_void_v<typename here::type>) {
    return first_element_type(list<More...>{});
  } else {
    return here{};
  }
}
template <class M>
consteval auto element_type_of() {
  if constexpr (is_refused<M>) {
    return std::type_identity<void>{};
  } else if constexpr (is_parameter<M>) {
    return std::type_identity<value_of<M>>{};
  } else if constexpr (nn::detail::is_sequence<M>) {
    return element_type_of<typename M::value_type>();
  } else if constexpr (is_tuple<M> || nn::module<M>) {
    return first_element_type(nn::detail::parts_t<M>{});
  } else {
    return std::type_identity<void>{};
  }
}
template <class M>
using model_element = typename decltype(element_type_of<M>())::type;

struct hidden;
struct a_member_missing_in_the_list_of_members;
// The first part of a model whose elements stay as they are where the model is tracked, after the module that it is a
// member of, and after `hidden` where no walk finds it. The list is empty where all parts are tracked.
inline consteval auto first_found() { return list<>{}; }
template <class First, class... More>
consteval auto first_found(First first, More... more) {
  if constexpr (First::size > 0) {
    return first;
  } else {
    return first_found(more...);
  }
}
template <class M, class R, class... Owner>
consteval auto part_without_elements();
template <class... Owner, class... Part, class... Tracked>
consteval auto first_part_without_elements(list<Part...>, list<Tracked...>) {
  return first_found(part_without_elements<Part, Tracked, Owner...>()...);
}
template <class M, class R, class... Owner>
consteval auto part_without_elements() {
  if constexpr (is_parameter<M>) {
    return std::conditional_t<is_tracked<R>, list<>, list<Owner..., M>>{};
  } else if constexpr (is_sequence<M>) {
    return part_without_elements<typename M::value_type, typename R::value_type, Owner...>();
  } else if constexpr (is_tuple<M>) {
    return first_part_without_elements<Owner...>(nn::detail::parts_t<M>{}, nn::detail::parts_t<R>{});
  } else if constexpr (nn::module<M>) {
    if constexpr (nn::detail::has_unnamed_members<M>()) {
      return list<hidden, M, a_member_missing_in_the_list_of_members>{};
    } else if constexpr (std::is_same_v<M, R> && !std::is_void_v<model_element<M>>) {
      return list<Owner..., M>{};
    } else {
      return first_part_without_elements<M>(nn::detail::parts_t<M>{}, nn::detail::parts_t<R>{});
    }
  } else if constexpr (nn::detail::hides_parameters<M>) {
    return list<hidden, Owner..., M>{};
  } else {
    return list<>{};
  }
}
template <class... X>
consteval auto part_error(list<X...>) {
  return answer<ERROR_R21_module_does_not_take_its_element_type<X...>>{};
}
template <class... X>
consteval auto part_error(list<hidden, X...>) {
  return answer<ERROR_R21_member_hides_its_parameters<X...>>{};
}

// The origins of the parameters of a model, in the order of a parameter_list.
using parameter_origins = std::vector<origin_pointer>;

// Tracks the parameter `from` by a record.
template <class To, class From>
[[gnu::noinline]] void track_parameter(To& to, const From& from, std::uint64_t record, parameter_origins& origins) {
  to.track(from, record);
  origins.push_back(to.origin_owner());
}
template <class To, class From>
void track_parts(To& to, const From& from, std::uint64_t record, parameter_origins& origins);
template <class To, class From, std::size_t... I>
[[gnu::always_inline]] inline void track_each_part(To& to, const From& from, [[maybe_unused]] std::uint64_t record,
                                                   parameter_origins& origins, std::index_sequence<I...>) {
  (track_parts(part_at<I>(to), part_at<I>(from), record, origins), ...);
}
template <class To, class From>
void track_parts(To& to, const From& from, std::uint64_t record, parameter_origins& origins) {
  if constexpr (is_sequence<To>) {
    if constexpr (requires { to.resize(from.size()); }) { to.resize(from.size()); }
    for (std::size_t i = 0; i < from.size(); ++i) { track_parts(to[i], from[i], record, origins); }
  } else if constexpr (is_tuple<To> || nn::module<To>) {
    track_each_part(to, from, record, origins, std::make_index_sequence<part_count<To>()>());
  } else if constexpr (is_parameter<From>) {
    track_parameter(to, from, record, origins);
  } else {
    static_assert(nn::detail::is_any_parameter<From> || nn::detail::is_a_setting<From>::value);
    to = from;
  }
}
// The parameters of `m`, tracked by a record.
template <class M>
auto tracked_model(const M& m, std::uint64_t record, parameter_origins& origins) {
  static_assert(nn::detail::all_members_are_named<M>());
  rebind<tracked<model_element<M>>, M> to;
  track_parts(to, m, record, origins);
  return to;
}

}  // namespace dimwise::detail
