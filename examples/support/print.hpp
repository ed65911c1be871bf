// SPDX-License-Identifier: BSL-1.0
// examples/support/print.hpp -- how the examples print: shapes by name, values with four decimals, tables with words.
//
//   print_shape("x", x);                    // x: seq[6] d_model[16]
//   print_values(x);                        // one line for each row of the last dimension
//   print_table(x, row_names, column_names);
#pragma once

#include <dimwise/dimwise.hpp>
#include <dimwise/expr/explain.hpp>

#include <boost/hana/back.hpp>
#include <boost/hana/equal.hpp>
#include <boost/hana/integral_constant.hpp>
#include <boost/hana/length.hpp>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

namespace examples {

using words = std::vector<std::string>;

/// The name and, by name, the shape.
template <dimwise::operand X>
void print_shape(const char* name, const X& x) {
  std::printf("%-18s %s\n", name, dimwise::describe(x).c_str());
}

/// One number in a column of eight characters; what would print as -0.0000 prints as 0.0000.
inline void print_number(double v) { std::printf(" %8.4f", std::fabs(v) < 0.00005 ? 0.0 : v); }

template <class T>
void print_element(const T& v) {
  if constexpr (std::is_arithmetic_v<T>) {
    print_number(static_cast<double>(v));
  } else {
    std::printf(" %8zu", v.value);  // an id
  }
}

/// The extent of the last dimension; all elements where there is none.
template <dimwise::operand X>
[[nodiscard]] std::size_t last_extent(const X& x) {
  constexpr auto dims = decltype(dimwise::dims_of(x)){};
  if constexpr (boost::hana::length(dims) == boost::hana::size_c<0>) {
    return 1;
  } else {
    return dimwise::extent_of<typename std::decay_t<decltype(boost::hana::back(dims))>::type>(x);
  }
}

/// The values of an expression or a view as a tensor; a tensor as it is.
template <dimwise::operand X>
[[nodiscard]] auto stored(const X& x) {
  if constexpr (dimwise::expression<X>) {
    return dimwise::evaluate(x);
  } else {
    return [&]<class... D>(dimwise::shape<D...>) {
      return dimwise::tensor<typename X::value_type, D...>(x);
    }(typename X::shape_type{});
  }
}

/// The values, evaluated if need be, a line for each row of the last dimension; long rows are broken.
template <dimwise::operand X>
void print_values(const X& x, const words& row_names = {}) {
  const auto t = stored(x);
  const std::size_t columns = last_extent(t);
  for (std::size_t i = 0; i < t.size(); ++i) {
    const std::size_t column = i % columns;
    if (column == 0 || column % 14 == 0) {
      std::printf("%s  ", i == 0 ? "" : "\n");
      if (!row_names.empty()) {
        std::printf("%-8s", column == 0 ? row_names[i / columns % row_names.size()].c_str() : "");
      }
    }
    print_element(t.values()[i]);
  }
  std::printf("\n");
}

/// The values under the names of their columns.
template <dimwise::operand X>
void print_table(const X& x, const words& row_names, const words& column_names) {
  std::printf("          ");
  for (const std::string& name : column_names) { std::printf(" %8s", name.c_str()); }
  std::printf("\n");
  print_values(x, row_names);
}

/// The largest difference between two equally long rows of numbers.
template <class Values, class Expected>
[[nodiscard]] double largest_difference(const Values& values, const Expected& expected) {
  if (values.size() != expected.size()) { return INFINITY; }
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double d = std::fabs(static_cast<double>(values[i]) - static_cast<double>(expected[i]));
    if (std::isnan(d)) { return INFINITY; }  // fmax would ignore it
    largest = std::fmax(largest, d);
  }
  return largest;
}

}  // namespace examples
