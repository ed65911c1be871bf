// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/print.hpp -- `std::cout << x`: a summary line, then the values in labelled tables.
// A tensor without dimensions is printed as its number.
//
// Layer: viz. Evaluates expressions first. Long dimensions show their first and last elements, so that a tensor fills
// about one screen.
// Tests: tests/viz/print.test.cpp
//
//   std::cout << softmax<key>(scores<d_k>(q, k));
//   std::cout << labelled(weights, labels<seq>(tokens), labels<key>(tokens));
#pragma once

#include <dimwise/eval/evaluate.hpp>
#include <dimwise/expr/explain/explain.hpp>
#include <dimwise/support/text_warning.hpp>
#include <dimwise/viz/colours.hpp>
#include <dimwise/viz/pictures/labels.hpp>
#include <dimwise/viz/text/table.hpp>

#include <string>
#include <utility>
#include <vector>

DIMWISE_DETAIL_TEXT_BEGIN;

namespace dimwise {

namespace detail {

template <class T>
inline constexpr bool is_printable = std::is_arithmetic_v<T> || is_id<T> || is_half_precision<T>;

template <class T>
class printed_elements : public printed_values {
 public:
  printed_elements(const T* elements, std::vector<printed_dimension> dims)
      : printed_values(std::is_same_v<T, bool>
                           ? kind::truth
                           : (is_id<T> ? kind::id : (std::is_integral_v<T> ? kind::whole : kind::real)),
                       std::move(dims)),
        elements_(elements) {}

 private:
  [[nodiscard]] double at(std::size_t i) const override {
    if constexpr (is_id<T>) {
      return static_cast<double>(elements_[i].value);
    } else if constexpr (std::is_class_v<T>) {
      return static_cast<double>(static_cast<float>(elements_[i]));
    } else {
      return static_cast<double>(elements_[i]);
    }
  }
  [[nodiscard]] long long whole_at([[maybe_unused]] std::size_t i) const override {
    if constexpr (is_id<T>) {
      return static_cast<long long>(elements_[i].value);
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<long long>(elements_[i]);
    } else {
      return 0;
    }
  }
  const T* elements_;
};

template <class T>
std::string element_name() {
  if constexpr (std::is_same_v<T, bool>) {
    return "bool";
  } else if constexpr (real_element<T>) {
    return "float" + std::to_string(8 * sizeof(T));
  } else if constexpr (std::is_integral_v<T>) {
    return (std::is_signed_v<T> ? "int" : "uint") + std::to_string(8 * sizeof(T));
  } else {
    std::string s;
    say_name(raw_type_name<T>(), [&](char c) { s += c; });
    return s;
  }
}

// `words_of.operator()<D>()` returns the labels of D; without labels, elements show their index.
template <class T, class... D, class Words>
coloured_text text_in_words(const tensor<T, D...>& x, const Words& words_of) {
  const auto of = [&]<class... All>(list<All...>) {
    std::vector<printed_dimension> dims {
      {name_in_words<All>(), x.extents().template extent<All>(), words_of.template operator()<All>()}...
    };
    coloured_text out;
    for (const printed_dimension& d : dims) { out.colours.add(d.name); }
    out.text = no_adl::describe(x);
    out.text += (out.text.empty() ? "" : ": ") + element_name<T>();
    if constexpr (is_printable<T>) {
      const printed_elements<T> values(x.values().data(), std::move(dims));
      out.text += (sizeof...(All) == 0 ? " " : ", ") + values.facts() + "\n" + values.tables();
    } else {
      out.text += "\n";
    }
    return out;
  };
  return of(dims_t<shape<D...>>{});
}
template <class T, class... D, class... L>
coloured_text text_of(const tensor<T, D...>& x, const labels<L>&... words) {
  return text_in_words(x, [&]<class Dim>() { return words_for<Dim>("labelled", x, words...); });
}

// A number that the stream prints in its own precision.
template <operand X>
inline constexpr bool prints_as_number = is_plain_number<shape_of<X>> && std::is_arithmetic_v<element_of<X>>;

// Any operand as a tensor.
template <operand X>
decltype(auto) stored_values(const X& x) {
  if constexpr (is_tensor<X>) {
    return (x);
  } else {
    return tensor(x);
  }
}

}  // namespace detail

/// Prints a summary line, then the values in tables labelled by dimension, in colour on a terminal. The summary has the
/// dimensions with their extents, the marks, the element type, minimum, maximum and (for floating-point elements) mean
/// without NaN, and the number of NaN. Prints a tracked tensor as its value, and a tensor without dimensions and marks
/// as its number without a line break. Evaluates expressions first.
template <operand X, class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const X& x) {
  const auto& values = detail::stored_values(x);
  if constexpr (detail::is_tracked_type<detail::value_of<X>>) {
    return out << values.value();
  } else if constexpr (detail::prints_as_number<X>) {
    return out << +values.values()[0];  // + prints characters as numbers
  } else {
    return out << detail::text_of(values);
  }
}
/// Rejects masks, which have no elements: print their `indicator`.
template <mask M, class Traits,
          class Error = ERROR_R7_mask_has_no_elements_to_print<detail::over_t<typename M::facts::dims>>>
Error operator<<(std::basic_ostream<char, Traits>& out, const M& m);

namespace no_adl {

/// `x` with labelled rows and columns, for a stream: `std::cout << labelled(weights, labels<key>(tokens))`. Throws
/// `extent_error` if the number of labels of a dimension differs from its extent (R15).
template <operand X, class... D>
  requires(detail::has_labelled<X, D> && ...)
[[nodiscard]] auto labelled(const X& x, const labels<D>&... words) {
  return detail::text_of(detail::stored_values(x), words...);
}
template <operand X, class... D, class Error = detail::labels_of_another_tensor<X, D...>>
  requires(!(detail::has_labelled<X, D> && ...))
Error labelled(const X& x, const labels<D>&... words);

}  // namespace no_adl

}  // namespace dimwise

DIMWISE_DETAIL_TEXT_END;
