// SPDX-License-Identifier: BSL-1.0
// dimwise/nn/members.hpp -- the members of a module as a list of member pointers, and their names.
//
// Layer: nn. Structs of BOOST_HANA_DEFINE_STRUCT are modules as well: dimwise/nn/hana.hpp.
// Tests: tests/nn/parameters.test.cpp
//
//   struct block {
//     nn::layer_norm<d_model> norm{};
//     nn::linear<nn::from<d_model>, nn::to<out<d_model>>> layer{};
//     using members = nn::member_list<&block::norm, &block::layer>;
//   };
#pragma once

#include <dimwise/support/list.hpp>

#include <array>
#include <cstddef>
#include <type_traits>

namespace dimwise::nn {

/// The members of a module as member pointers: `using members = nn::member_list<&block::norm, &block::layer>;` makes a
/// struct `block` a module. Parameters have the names of the members.
template <auto... Pointer>
struct member_list {};

namespace detail {

// The pointer number I.
template <std::size_t I, auto First, auto... More>
consteval auto pointer_at() {
  if constexpr (I == 0) {
    return First;
  } else {
    return pointer_at<I - 1, More...>();
  }
}

// The name of a member, as compilers print its pointer at the end of the name of this function:
// `… &demo::block::norm]`. Read backwards, since each step of a constant expression costs compile time.
template <auto Pointer>
consteval auto printed_member() {
  constexpr std::size_t end = sizeof(__PRETTY_FUNCTION__) - 2;
  constexpr std::size_t begin = [](const char* text) {
    std::size_t at = end;
    while (text[at - 1] != ':') { --at; }
    return at;
  }(__PRETTY_FUNCTION__);
  std::array<char, end - begin + 1> name{};
  for (std::size_t i = 0; begin + i < end; ++i) { name[i] = __PRETTY_FUNCTION__[begin + i]; }
  return name;
}
template <auto Pointer>
inline constexpr auto name_of_member = printed_member<Pointer>();

template <class List>
struct list_of_members;
template <class Pointer>
struct type_of_member;
template <class M, class T>
struct type_of_member<T M::*> : std::remove_const<T> {};
template <auto... Pointer>
struct list_of_members<member_list<Pointer...>> {
  using types = dimwise::detail::list<typename type_of_member<decltype(Pointer)>::type...>;
  static constexpr std::size_t count = sizeof...(Pointer);
  template <std::size_t I>
  static constexpr auto pointer = pointer_at<I, Pointer...>();
  template <std::size_t I>
  static constexpr const char* name = name_of_member<pointer_at<I, Pointer...>()>.data();
};

// The list of a struct that Boost.Hana reflects: nn/hana.hpp defines it.
template <class M>
struct members_by_hana {};

template <class M>
concept lists_members = requires { list_of_members<typename M::members>::count; };
template <class M>
concept hana_struct = requires { typename M::hana_accessors_impl; } || requires { typename members_by_hana<M>::type; };

template <class M>
struct members_of;
template <lists_members M>
struct members_of<M> : list_of_members<typename M::members> {};
template <class M>
  requires(!lists_members<M> && hana_struct<M>)
struct members_of<M> : list_of_members<typename members_by_hana<M>::type> {};

}  // namespace detail

/// A struct with a list of its members: `nn::member_list`, or a struct that Boost.Hana reflects.
template <class M>
concept module = detail::lists_members<M> || detail::hana_struct<M>;

}  // namespace dimwise::nn
