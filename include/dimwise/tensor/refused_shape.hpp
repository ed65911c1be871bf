// SPDX-License-Identifier: BSL-1.0
// dimwise/tensor/refused_shape.hpp -- tensors and views of invalid types: one error, and no errors that follow from it.
//
// Layer: tensor. A type that names a dimension twice (R17), or an argument that is not a dimension or element (R1), is
// reported at its first use. Such a type is not an operand, and operations on it return `already_refused`, so that no
// rule reports a second error.
// Tests: tests/compile_fail/dim/, tests/shape/must_compile.test.cpp
#pragma once

#include <dimwise/shape/verdict.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>
#include <type_traits>

namespace dimwise {

template <class T, class... DimsAndMarks>
class tensor;
template <class T, class... DimsAndMarks>
class tensor_view;

namespace detail {

template <class X>
inline constexpr bool is_tensor = false;
template <class T, class... D>
inline constexpr bool is_tensor<tensor<T, D...>> = true;

// The result of an operation whose operand type was already rejected. As a number or a condition it is not a second
// error. A formula propagates it (nn/formula.hpp).
struct already_refused {
  using refused_error = already_refused;
  template <class Value>
    requires std::is_arithmetic_v<Value>
  operator Value() const;  // implicit, declared only
};

// Element types are object types that can be assigned, other than dimensions.
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

// A data member of another library's tensors (tensor/other_names.hpp), among the arguments of an operation.
template <class Error>
struct other_data;
template <class X>
inline constexpr bool is_other_data = false;
template <class Error>
inline constexpr bool is_other_data<other_data<Error>> = true;
// Its error; no class is instantiated for other arguments.
template <bool Among>
struct other_data_in {
  template <class... X>
  using error = void;
};
template <class First, class... X>
struct first_other_data : first_other_data<X...> {};
template <class Error, class... X>
struct first_other_data<other_data<Error>, X...> {
  using type = Error;
};
template <>
struct other_data_in<true> {
  template <class... X>
  using error = typename first_other_data<X...>::type;
};
template <class... X>
using other_data_error = typename other_data_in<(is_other_data<X> || ...)>::template error<X...>;

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
// An argument in place of an ellipsis that is not deleted: clang reports non-trivial objects passed to it a second
// time.
struct any_object {
  template <class X>
    requires(!std::is_trivially_copyable_v<X>)
  any_object(const X&);  // implicit: from any argument
};
#endif

// A flag of the translation unit, which an error raises: what follows from the error, where compilers continue with a
// declared type, is not a second mistake. A friend that is defined later than it is declared is what a template can ask
// for; `Asking` makes each answer a new one.
template <class Flag>
struct raises {
  friend constexpr auto is_raised(Flag) { return true; }
};
template <class Flag, class Asking>
concept was_raised = requires(Flag flag, Asking*) { is_raised(flag); };
// Raised where a tensor, a view or an expression of an invalid type is used.
struct refused_type {
  friend constexpr auto is_raised(refused_type);
};

// Whether a function takes X: a call beside a function that takes everything is ambiguous then, and nothing looks into
// the body.
struct is_not_called {};
struct takes_all {
  template <class X>
  is_not_called operator()(const X&) const;
};
template <class F>
struct function_or_all : F, takes_all {
  using F::operator();
  using takes_all::operator();
};
// Whether F is the type of a lambda, whose call is never deleted or private: where it takes X and is not called, its
// body does not compile, and compilers have said so.
template <class F>
consteval bool is_lambda() {
  const std::string_view name = __PRETTY_FUNCTION__;
  return name.find("<lambda") != std::string_view::npos || name.find("(lambda") != std::string_view::npos;
}
template <class F, class X>
consteval bool takes() {
  if constexpr (!std::is_class_v<F> || std::is_final_v<F>) {
    return false;
  } else if constexpr (!is_lambda<F>()) {
    return true;  // as far as the call itself tells
  } else {
    return !requires(const function_or_all<F>& f, const X& x) {
      { f(x) } -> std::same_as<is_not_called>;
    };
  }
}
// Asked before the call: clang forgets a function whose body does not compile.
template <class F, class X>
consteval bool is_lambda_that_takes() {
  if constexpr (std::is_class_v<F> && is_lambda<F>()) {
    return takes<F, X>();
  } else {
    return false;
  }
}

// The members that a user of the rejected type may call.
template <bool Valid>
struct refused_members : raises<either_t<Valid, void, refused_type>> {
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
class tensor<T, DimsAndMarks...> : public detail::refused_members<detail::valid_tensor<T, DimsAndMarks...>> {
 public:
  using value_type = T;
  template <class... Any>
  tensor(const Any&...);  // implicit: the type is the only mistake
  static_assert(detail::holds<detail::valid_tensor<T, DimsAndMarks...>, detail::shape_error<T, DimsAndMarks...>>,
                "R1, R17, R25: a tensor names dimensions, each once");
};

template <class T, class... DimsAndMarks>
  requires(!detail::valid_tensor<std::remove_const_t<T>, DimsAndMarks...>)
class tensor_view<T, DimsAndMarks...>
    : public detail::refused_members<detail::valid_tensor<std::remove_const_t<T>, DimsAndMarks...>> {
 public:
  using value_type = std::remove_const_t<T>;
  template <class... Any>
  tensor_view(const Any&...);  // implicit: the type is the only mistake
  static_assert(detail::holds<detail::valid_tensor<value_type, DimsAndMarks...>,
                              detail::shape_error<value_type, DimsAndMarks...>>,
                "R1, R17, R25: a tensor names dimensions, each once");
};

}  // namespace dimwise
