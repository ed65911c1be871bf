// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/print.hpp -- `std::cout << x`: a line of facts, then the values under their dimensions' names.
//
// Layer: viz. An expression is evaluated first. Long dimensions show their first and last elements: any tensor fills
// about one screen. A stream is named only by its template, so that programs that print nothing do not pay for
// <ostream>.
// Tests: tests/viz/print.test.cpp
//
//   std::cout << softmax<key>(scores<d_k>(q, k));
#pragma once

#include <dimwise/eval/evaluate.hpp>
#include <dimwise/expr/explain.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

namespace dimwise {

namespace detail {

// What is printed of a tensor: its extents, the names of its dimensions, and its elements as numbers.
class printed_values {
 public:
  enum class kind : unsigned char { real, whole, truth };

  printed_values(kind k, std::vector<std::string> names, std::vector<std::size_t> extents)
      : kind_(k), names_(std::move(names)), extents_(std::move(extents)) {}
  virtual ~printed_values() = default;
  printed_values(const printed_values&) = delete;
  printed_values& operator=(const printed_values&) = delete;

  // Facts about all elements: NaN counts, and is left out of all else.
  [[nodiscard]] std::string facts() const {
    const std::size_t n = size();
    if (n == 0) { return "no elements"; }
    if (extents_.empty()) { return format(0, style_of({0})); }
    double low = 0;
    double high = 0;
    double sum = 0;
    std::size_t counted = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double v = at(i);
      if (std::isnan(v)) { continue; }
      low = counted == 0 || v < low ? v : low;
      high = counted == 0 || v > high ? v : high;
      sum += v;
      ++counted;
    }
    if (kind_ == kind::truth) {
      return std::to_string(static_cast<std::size_t>(sum)) + " of " + std::to_string(n) + " true";
    }
    std::string s;
    if (counted > 0) {
      s = "min " + number(low) + ", mean " + number(sum / static_cast<double>(counted)) + ", max " + number(high);
    }
    if (kind_ == kind::real) { s += (counted > 0 ? ", " : "") + std::to_string(n - counted) + " NaN"; }
    return s;
  }

  // A table of the last two dimensions for each place of the others.
  [[nodiscard]] std::string tables() const {
    const std::size_t rank = extents_.size();
    if (rank == 0 || size() == 0) { return ""; }
    const std::size_t columns = extents_[rank - 1];
    const std::size_t rows = rank > 1 ? extents_[rank - 2] : 1;
    const std::size_t outer = size() / (rows * columns);
    const std::vector<std::size_t> tables = places(outer, 1);
    const std::vector<std::size_t> down = places(rows, 4);
    const std::vector<std::size_t> across = places(columns, 4);

    std::vector<std::size_t> shown;
    for (const std::size_t t : tables) {
      for (const std::size_t r : down) {
        for (const std::size_t c : across) {
          if (t != gap && r != gap && c != gap) { shown.push_back((t * rows + r) * columns + c); }
        }
      }
    }
    const style how = style_of(shown);
    std::size_t width = std::to_string(columns - 1).size();
    for (const std::size_t i : shown) { width = std::max(width, format(i, how).size()); }
    const std::string corner = rank > 1 ? names_[rank - 2] + " \\ " + names_[rank - 1] : names_[rank - 1];
    const std::size_t margin = std::max(corner.size(), std::to_string(rows - 1).size());

    std::string s;
    for (const std::size_t t : tables) {
      if (t == gap) {
        s += "…\n";
        continue;
      }
      if (rank > 2) { s += place(t) + "\n"; }
      s += padded(corner, margin);
      for (const std::size_t c : across) { s += c == gap ? "  …" : "  " + padded(std::to_string(c), width); }
      s += "\n";
      for (const std::size_t r : down) {
        if (r == gap) {
          s += std::string(margin - 1, ' ') + "…\n";
          continue;
        }
        s += padded(rank > 1 ? std::to_string(r) : "", margin);
        for (const std::size_t c : across) {
          s += c == gap ? "  …" : "  " + padded(format((t * rows + r) * columns + c, how), width);
        }
        s += "\n";
      }
    }
    return s;
  }

 private:
  static constexpr std::size_t gap = static_cast<std::size_t>(-1);
  struct style {
    bool scientific = false;
    int decimals = 0;
  };

  [[nodiscard]] virtual double at(std::size_t i) const = 0;
  [[nodiscard]] virtual long long whole_at(std::size_t i) const = 0;

  [[nodiscard]] std::size_t size() const {
    std::size_t n = 1;
    for (const std::size_t e : extents_) { n *= e; }
    return n;
  }
  // The first and the last places of so many, with a gap between them where it hides more than one.
  static std::vector<std::size_t> places(std::size_t count, std::size_t half) {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < count; ++i) {
      if (count <= 2 * half + 1 || i < half || i + half >= count) {
        all.push_back(i);
      } else if (all.back() != gap) {
        all.push_back(gap);
      }
    }
    return all;
  }
  // Digits after the point that tell all of these apart, as many for one as for the others.
  [[nodiscard]] style style_of(const std::vector<std::size_t>& shown) const {
    if (kind_ != kind::real) { return {}; }
    double most = 0;
    double least = INFINITY;
    bool whole = true;
    for (const std::size_t i : shown) {
      const double v = std::fabs(at(i));
      if (!std::isfinite(v) || v == 0) { continue; }
      most = std::max(most, v);
      least = std::min(least, v);
      whole = whole && v == std::floor(v);
    }
    if (most >= 1e6 || least < 1e-4) { return {true, 3}; }
    return {false, whole ? 0 : (most < 100 ? 4 : (most < 10000 ? 2 : 1))};
  }
  [[nodiscard]] std::string format(std::size_t i, style how) const {
    if (kind_ == kind::truth) { return at(i) != 0 ? "true" : "false"; }
    if (kind_ == kind::whole) { return std::to_string(whole_at(i)); }
    const double v = at(i);
    if (std::isnan(v)) { return "nan"; }
    if (std::isinf(v)) { return v < 0 ? "-inf" : "inf"; }
    char text[48];
    const int n = std::snprintf(text, sizeof(text), how.scientific ? "%.*e" : "%.*f", how.decimals, v);
    return {text, static_cast<std::size_t>(n)};
  }
  static std::string number(double v) {
    if (std::isinf(v)) { return v < 0 ? "-inf" : "inf"; }
    if (std::isnan(v)) { return "nan"; }
    char text[48];
    const int n = std::snprintf(text, sizeof(text), "%.4g", v);
    return {text, static_cast<std::size_t>(n)};
  }
  static std::string padded(const std::string& s, std::size_t width) {
    return std::string(width > s.size() ? width - s.size() : 0, ' ') + s;
  }
  // Where the t-th table stands: "batch 0, heads 3".
  [[nodiscard]] std::string place(std::size_t t) const {
    std::string s;
    for (std::size_t d = extents_.size() - 2; d-- > 0;) {
      s = names_[d] + " " + std::to_string(t % extents_[d]) + (s.empty() ? "" : ", ") + s;
      t /= extents_[d];
    }
    return s;
  }

  kind kind_;
  std::vector<std::string> names_;
  std::vector<std::size_t> extents_;
};

template <class T>
inline constexpr bool is_printable = std::is_arithmetic_v<T> || is_id<T> || is_half_precision<T>;

template <class T>
class printed_elements : public printed_values {
 public:
  printed_elements(const T* elements, std::vector<std::string> names, std::vector<std::size_t> extents)
      : printed_values(
            std::is_same_v<T, bool> ? kind::truth : (std::is_integral_v<T> || is_id<T> ? kind::whole : kind::real),
            std::move(names), std::move(extents)),
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

template <class T, class... D>
std::string text_of(const tensor<T, D...>& x) {
  const auto of = [&]<class... All>(list<All...>) {
    std::vector<std::string> names;
    [[maybe_unused]] const auto say = [&](text t) {
      names.emplace_back();
      say_name(t, [&](char c) { names.back() += c; });
    };
    (say(dimension_name<All>()), ...);
    const std::vector<std::size_t> extents{x.extents().template extent<All>()...};
    std::string head = no_adl::describe(x);
    head += (head.empty() ? "" : ": ") + element_name<T>();
    if constexpr (is_printable<T>) {
      const printed_elements<T> values(x.values().data(), names, extents);
      return head + (sizeof...(All) == 0 ? " " : ", ") + values.facts() + "\n" + values.tables();
    } else {
      return head + "\n";
    }
  };
  return of(dims_t<shape<D...>>{});
}

}  // namespace detail

/// A line of facts (dimensions with their extents, marks, the element type, minimum, mean and maximum without NaN, and
/// how many are NaN), then the values under their dimensions' names. An expression is evaluated first.
template <operand X, class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out, const X& x) {
  std::string s;
  if constexpr (detail::is_tensor<X>) {
    s = detail::text_of(x);
  } else {
    s = detail::text_of(tensor(x));
  }
  return out.write(s.data(), static_cast<std::ptrdiff_t>(s.size()));
}
/// A mask has no elements: `indicator` gives them.
template <mask M, class Traits,
          class Error = ERROR_R7_mask_has_no_elements_to_print<detail::over_t<typename M::facts::dims>>>
Error operator<<(std::basic_ostream<char, Traits>& out, const M& m);

}  // namespace dimwise
