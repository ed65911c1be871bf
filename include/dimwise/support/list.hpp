// SPDX-License-Identifier: BSL-1.0
// dimwise/support/list.hpp -- type lists: search, set operations, concatenation, replacement.
//
// Layer: support. Includes: the standard library only.
// The functions use parameter packs and booleans only: these cost a compiler a tenth of library tuples and sets.
// Tests: tests/shape/list.test.cpp
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace dimwise::detail {

// A list of types; never instantiated as an object.
template <class... T>
struct list {
  static constexpr std::size_t size = sizeof...(T);
};

// The compiler's builtin, here and below: std::is_same_v is one more variable for each pair.
template <class T, class... Ts>
inline constexpr bool is_any_of = (__is_same(T, Ts) || ...);

template <class T, class List>
inline constexpr bool is_in = false;
template <class T, class... Ts>
inline constexpr bool is_in<T, list<Ts...>> = (__is_same(T, Ts) || ...);

// The index of T in the list; the size of the list if T is missing. Folded over a function that is not a template: one
// more variable for each pair, and no function.
struct search {
  std::size_t index = 0;
  bool found = false;

  [[nodiscard]] consteval short place() const { return found ? static_cast<short>(index) : short{-1}; }
};
consteval search operator|(search s, bool is_here) {
  return s.found || is_here ? search{s.index, true} : search{s.index + 1, false};
}
template <class T, class List>
inline constexpr std::size_t index_in = 0;
template <class T, class... Ts>
inline constexpr std::size_t index_in<T, list<Ts...>> = (search{} | ... | __is_same(T, Ts)).index;

// The last branch of a choice between types: `static_assert(is_handled<T>, …)` rejects a type that no branch handles.
template <class... T>
inline constexpr bool is_handled = false;

template <class... Lists>
struct join {
  using type = list<>;
};
template <class... A>
struct join<list<A...>> {
  using type = list<A...>;
};
template <class... A, class... B>
struct join<list<A...>, list<B...>> {
  using type = list<A..., B...>;
};
template <class... A, class... B, class... C>
struct join<list<A...>, list<B...>, list<C...>> {
  using type = list<A..., B..., C...>;
};
// Four at a time: most shapes need one or two steps.
template <class... A, class... B, class... C, class... D, class... Rest>
struct join<list<A...>, list<B...>, list<C...>, list<D...>, Rest...> : join<list<A..., B..., C..., D...>, Rest...> {};
template <class... Lists>
using join_t = typename join<Lists...>::type;

template <bool>
struct one_if {
  template <class T>
  using type = list<T>;
};
template <>
struct one_if<false> {
  template <class T>
  using type = list<>;
};
template <bool Keep, class T>
using list_if = typename one_if<Keep>::template type<T>;

// std::conditional_t without a class for each pair of types.
template <bool>
struct first_if {
  template <class A, class B>
  using type = A;
};
template <>
struct first_if<false> {
  template <class A, class B>
  using type = B;
};
template <bool First, class A, class B>
using either_t = typename first_if<First>::template type<A, B>;

// Set operations that keep the order of the left list.
template <class A, class B>
struct difference_of;
template <class... A, class... B>
struct difference_of<list<A...>, list<B...>> : join<list_if<!is_any_of<A, B...>, A>...> {};
template <class A, class B>
struct intersection_of;
template <class... A, class... B>
struct intersection_of<list<A...>, list<B...>> : join<list_if<is_any_of<A, B...>, A>...> {};
template <class A, class B>
using difference_t = typename difference_of<A, B>::type;
template <class A, class B>
using intersection_t = typename intersection_of<A, B>::type;
template <class A, class B>
using union_t = join_t<A, difference_t<B, A>>;
template <class A, class B>
inline constexpr bool is_subset = false;
template <class... A, class B>
inline constexpr bool is_subset<list<A...>, B> = (is_in<A, B> && ...);
template <class A, class B>
inline constexpr bool is_disjoint = false;
template <class... A, class B>
inline constexpr bool is_disjoint<list<A...>, B> = !(is_in<A, B> || ...);
template <class A, class B>
inline constexpr bool same_set = A::size == B::size && is_subset<A, B>;

template <class... T>
consteval bool all_distinct(list<T...>) {
  if constexpr (sizeof...(T) < 2) {
    return true;
  } else {
    // Each index is that of the first such type, so at most that of the type itself: they add up to 0 + 1 + … + (n - 1)
    // for distinct types only. n * n comparisons by a builtin.
    return (index_in<T, list<T...>> + ...) == sizeof...(T) * (sizeof...(T) - 1) / 2;
  }
}

// The list without duplicates, in the order of first occurrence.
template <class Done, class... T>
struct unique {
  using type = Done;
};
template <class... Done, class T, class... Rest>
struct unique<list<Done...>, T, Rest...>
    : unique<either_t<is_any_of<T, Done...>, list<Done...>, list<Done..., T>>, Rest...> {};
template <class List>
struct unique_list;
template <class... T>
struct unique_list<list<T...>>
    : either_t<all_distinct(list<T...>{}), std::type_identity<list<T...>>, unique<list<>, T...>> {};
template <class List>
using unique_t = typename unique_list<List>::type;

// The list with `Old` replaced by the elements of `New`.
template <class List, class Old, class New>
struct replace;
template <class... T, class Old, class... New>
struct replace<list<T...>, Old, list<New...>> {
  using type = join_t<either_t<std::is_same_v<T, Old>, list<New...>, list<T>>...>;
};
template <class List, class Old, class New>
using replace_t = typename replace<List, Old, New>::type;

template <std::size_t I, class T>
struct placed {};
template <class Places, class... T>
struct placed_all;
template <std::size_t... I, class... T>
struct placed_all<std::index_sequence<I...>, T...> : placed<I, T>... {};
template <std::size_t I, class T>
std::type_identity<T> pick(const placed<I, T>*);
template <std::size_t I, class List>
struct element;
template <std::size_t I, class... T>
struct element<I, list<T...>> {
  using type = typename decltype(pick<I>(static_cast<placed_all<std::index_sequence_for<T...>, T...>*>(nullptr)))::type;
};
template <std::size_t I, class List>
using element_t = typename element<I, List>::type;

// f(std::integral_constant<std::size_t, I>()) for I = 0, …, Count − 1. If f is `always_inline` as well, no function is
// emitted.
template <std::size_t Count, class F>
[[gnu::always_inline]] constexpr void each_index([[maybe_unused]] const F& f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
    (f(std::integral_constant<std::size_t, I>()), ...);
  }(std::make_index_sequence<Count>());
}

}  // namespace dimwise::detail
