// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/refused_shape.hpp -- tensors and views of a type that is none: one error, and silence after it.
//
// Layer: tensor. A type that names a dimension twice (R17), or something that is no dimension or no element (R1), is
// reported where it is first used. It is no operand, and what is called with it gives `already_refused`: no second
// error with another rule.
// Tests: tests/compile_fail/dim/, tests/shape/must_compile.test.cpp
#pragma once

#include <dimwise/shape/verdict.hpp>

#include <cstddef>
#include <type_traits>

namespace dimwise {

template <class T, class... DimsAndMarks>
class tensor;
template <class T, class... DimsAndMarks>
class tensor_view;

namespace detail {

// What an operation gives for an operand whose type was refused already.
struct already_refused {};

// Elements are objects that can be written, and no dimensions.
template <class T>
inline constexpr bool is_element =
    std::is_object_v<T> && !std::is_const_v<T> && !std::is_volatile_v<T> && !dimension_type<T> && !is_mark<T>;
template <class T, class... D>
inline constexpr bool valid_tensor = is_element<T> && valid_shape<D...>;

template <class X>
inline constexpr bool is_refused = false;
template <>
inline constexpr bool is_refused<already_refused> = true;
template <class T, class... D>
inline constexpr bool is_refused<tensor<T, D...>> = !valid_tensor<T, D...>;
template <class T, class... D>
inline constexpr bool is_refused<tensor_view<T, D...>> = !valid_tensor<std::remove_const_t<T>, D...>;

template <class X>
concept refused_operand = is_refused<std::remove_cvref_t<X>>;

template <class... T>
struct not_dimensions {
  using type = join_t<list<>, list_if<!dimension_type<T>, T>...>;
};
template <class Dims>
struct of_no_dimensions;
template <class... D>
struct of_no_dimensions<list<D...>> {
  using type = typename not_dimensions<D...>::type;
};
template <class List>
struct over_these;
template <class... T>
struct over_these<list<T...>> {
  using type = over<T...>;
};

template <class Element, class... T>
consteval auto judge_shape() {
  using dims = dims_t<shape<T...>>;
  if constexpr (!is_element<Element>) {
    return answer<ERROR_R1_element_type_comes_first<over<Element>, operand_shape<T...>>>{};
  } else if constexpr (!all_dimensions(dims{})) {
    using wrong = typename over_these<typename of_no_dimensions<dims>::type>::type;
    return answer<ERROR_R1_tensor_names_dimensions<wrong, operand_shape<T...>>>{};
  } else {
    return answer<repetition_in<T...>>{};
  }
}
template <class... T>
using shape_error = typename decltype(judge_shape<T...>())::type;  // of an element type and a shape

#if defined(DIMWISE_DETAIL_CONSTRUCTORS_SAY)
// What an ellipsis may not take where it is not deleted: clang reports objects that are not trivial a second time.
struct any_object {
  template <class X>
    requires(!std::is_trivially_copyable_v<X>)
  any_object(const X&);  // implicit: whatever is written there
};
#endif

// The members that a user of the refused type may have written.
struct refused_members {
  template <class... Ids>
  already_refused operator()(const Ids&...) const;
  already_refused data() const;
  already_refused values() const;
  std::size_t size() const;
  already_refused extents() const;
  template <class... Any>
  void set(const Any&...);
  template <class... Any>
  void fill(const Any&...);
  template <class... Any>
  void assign(const Any&...);
  void seal();
};

}  // namespace detail

template <class T, class... DimsAndMarks>
  requires(!detail::valid_tensor<T, DimsAndMarks...>)
class tensor<T, DimsAndMarks...> : public detail::refused_members {
 public:
  using value_type = T;
  template <class... Any>
  tensor(const Any&...);  // implicit: the type is the only mistake
  static_assert(detail::holds<detail::valid_tensor<T, DimsAndMarks...>, detail::shape_error<T, DimsAndMarks...>>,
                "R1, R17: a tensor names dimensions, each once");
};

template <class T, class... DimsAndMarks>
  requires(!detail::valid_tensor<std::remove_const_t<T>, DimsAndMarks...>)
class tensor_view<T, DimsAndMarks...> : public detail::refused_members {
 public:
  using value_type = std::remove_const_t<T>;
  template <class... Any>
  tensor_view(const Any&...);  // implicit: the type is the only mistake
  static_assert(detail::holds<detail::valid_tensor<value_type, DimsAndMarks...>,
                              detail::shape_error<value_type, DimsAndMarks...>>,
                "R1, R17: a tensor names dimensions, each once");
};

}  // namespace dimwise
