// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/elements.hpp -- conversions of ranges and nested lists to elements.
//
// Layer: tensor. Floating-point elements accept any number, rounded as in the language. Integers accept types whose
// values they can represent; bool accepts bool; ids accept non-negative integers.
// Tests: tests/tensor/construction.test.cpp, tests/compile_fail/assign/
#pragma once

#include <dimwise/tensor/operand.hpp>

#include <array>
#include <initializer_list>
#include <limits>
#include <type_traits>
#include <utility>

namespace dimwise::detail {

template <class T>
inline constexpr bool is_character = is_any_of<T, char, wchar_t, char8_t, char16_t, char32_t>;
template <class T>
inline constexpr bool is_whole = std::is_integral_v<T> && !std::is_same_v<T, bool> && !is_character<T>;

template <class To, class From>
consteval bool becomes() {
  if constexpr (std::is_same_v<To, From>) {
    return true;
  } else if constexpr (real_element<To>) {
    return real_element<From> || is_whole<From>;
  } else if constexpr (is_id<To>) {
    return is_whole<From>;
  } else if constexpr (is_whole<To> && is_whole<From>) {
    return std::cmp_greater_equal(std::numeric_limits<From>::min(), std::numeric_limits<To>::min()) &&
           std::cmp_less_equal(std::numeric_limits<From>::max(), std::numeric_limits<To>::max());
  } else {
    return std::is_class_v<To> && real_element<From> && std::is_constructible_v<To, float>;  // bfloat16, float16
  }
}

template <class To, class From>
To as_element(const From& value) {
  if constexpr (is_id<To> && !std::is_same_v<To, From>) {
    return To(static_cast<std::size_t>(value));
  } else if constexpr (std::is_class_v<To> && real_element<From>) {
    return To(static_cast<float>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <class R>
using element_in = std::iter_value_t<decltype(std::begin(std::declval<const R&>()))>;

// A container, span or array whose elements convert to T.
template <class R>
concept elements_in = !derived_from<R, operand_tag> && requires(const R& r) {
  std::begin(r);
  std::end(r);
};
template <class R, class T>
concept elements_for = elements_in<R> && becomes<T, element_in<R>>();

template <class R>
std::size_t count_of(const R& values) {
  return static_cast<std::size_t>(std::distance(std::begin(values), std::end(values)));
}
// Rejects negative ids.
template <class T, class R>
void check_elements(const R& values) {
  if constexpr (is_id<T> && std::is_signed_v<element_in<R>>) {
    for (const auto value : values) {
      if (value < 0) { raise<index_error>(error{} << "id " << static_cast<long long>(value) << " is negative (R18)"); }
    }
  }
}
template <class T, class R>
void write_elements(const R& from, T* to) {
  for (auto i = std::begin(from); i != std::end(from); ++i) { *to++ = as_element<T, element_in<R>>(*i); }
}

// Nested lists with one level per dimension.
template <class T, std::size_t Levels>
struct lists {
  using type = std::initializer_list<typename lists<T, Levels - 1>::type>;
};
template <class T>
struct lists<T, 1> {
  using type = std::initializer_list<T>;
};
template <class T>
struct lists<T, 0> : lists<T, 2> {};  // no list has no level: never read

// Whether lists determine the extents: those of a composite's factors cannot be derived from its own.
template <class Dims>
inline constexpr bool deduces_extents = false;
template <class... D>
  requires(sizeof...(D) > 0)
inline constexpr bool deduces_extents<list<D...>> = ((D::static_extent != at_run_time || !is_composite<D>) && ...);

// Only what reads lists instantiates it.
template <class T, class Dims>
struct list_reader;
template <class T, class... D>
struct list_reader<T, list<D...>> {
  static constexpr std::size_t rank = sizeof...(D);
  using lists_type = typename lists<T, rank>::type;
  using extents = extents_for<shape<D...>>;

  // The extents of the nested lists.
  static extents measured(const lists_type& given) {
    const counts n = count(given);
    extents e;
    std::size_t i = 0;
    (take<D>(e, n.at[i++]), ...);
    check(e, n);
    return e;
  }
  // The extents of the nested lists, which must equal `e`.
  static const extents& checked(const lists_type& given, const extents& e) {
    check(e, count(given));
    return e;
  }
  static std::size_t count_elements(const lists_type& given) {
    const counts n = count(given);
    std::size_t all = 1;
    for (std::size_t i = 0; i < rank; ++i) { all *= n.at[i] == none ? 0 : n.at[i]; }
    return all;
  }
  static void write(const lists_type& given, T* to) { write_level<rank>(given, to); }

 private:
  struct counts {
    extent_t at[rank + 1];
  };
  static constexpr extent_t none = static_cast<extent_t>(-1);

  static counts count(const lists_type& given) {
    counts n;
    for (extent_t& one : n.at) { one = none; }
    count_level<rank>(given, n);
    return n;
  }
  template <std::size_t Left, class List>
  static void count_level(const List& given, counts& n) {
    if constexpr (Left > 0) {
      constexpr std::size_t level = rank - Left;
      if (n.at[level] != none && n.at[level] != given.size()) {
        raise<extent_error>(error{} << "a list along dimension " << dimension_name<element_t<level, list<D...>>>()
                                    << " has " << given.size() << " elements and another has " << n.at[level]
                                    << " (R15)");
      }
      n.at[level] = given.size();
      for (const auto& one : given) { count_level<Left - 1>(one, n); }
    }
  }
  template <class X>
  static void take(extents& e, extent_t n) {
    if constexpr (X::static_extent == at_run_time) { e.template of_atom<X>().extent = n == none ? 0 : n; }
  }
  // An empty list does not determine the extents of inner dimensions.
  static void check(const extents& e, const counts& n) {
    std::size_t i = 0;
    (check_one<D>(e, n.at[i++]), ...);
  }
  template <class X>
  static void check_one(const extents& e, extent_t n) {
    if (n != none && n != e.template extent<X>()) {
      raise<extent_error>(error{} << "dimension " << dimension_name<X>() << " has extent " << e.template extent<X>()
                                  << ", but its list has " << n << " elements (R15)");
    }
  }
  template <std::size_t Left, class List>
  static void write_level(const List& given, T*& to) {
    if constexpr (Left == 0) {
      *to++ = given;
    } else {
      for (const auto& one : given) { write_level<Left - 1>(one, to); }
    }
  }
};
}  // namespace dimwise::detail
