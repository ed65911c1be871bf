// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/text/table_definitions.hpp -- formatting of tables of values.
//
// Layer: viz. Compiled once if a program links the library (support/library.hpp).
// Tests: tests/viz/print.test.cpp
#pragma once

#include <dimwise/viz/text/table.hpp>
#include <dimwise/viz/text/words.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

DIMWISE_DETAIL_TEXT_BEGIN;

namespace dimwise::detail {

DIMWISE_DETAIL_LIBRARY std::string printed_dimension::word(std::size_t i) const {
  return words.empty() ? std::to_string(i) : shortened(visible(words[i]), 16);
}

DIMWISE_DETAIL_LIBRARY std::string place_in_words(const std::vector<printed_dimension>& dims, std::size_t t) {
  std::string s;
  for (std::size_t d = dims.size() < 2 ? 0 : dims.size() - 2; d-- > 0; t /= dims[d].extent) {
    const std::string name = dims[d].words.empty() ? dims[d].name + " " : "";  // a label says by itself what it is
    s = name + dims[d].word(t % dims[d].extent) + (s.empty() ? "" : ", ") + s;
  }
  return s;
}

DIMWISE_DETAIL_LIBRARY std::string printed_values::facts() const {
  const std::size_t n = size();
  if (n == 0) { return "no elements"; }
  if (dims_.empty()) { return format(0, style_of({0})); }
  double low = 0;
  double high = 0;
  double sum = 0;
  std::size_t counted = 0;
  std::size_t nan = 0;
  std::size_t above = 0;
  std::size_t below = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double v = at(i);
    if (!std::isfinite(v)) {
      ++(std::isnan(v) ? nan : (v < 0 ? below : above));
      continue;
    }
    low = counted == 0 || v < low ? v : low;
    high = counted == 0 || v > high ? v : high;
    sum += v;
    ++counted;
  }
  if (kind_ == kind::truth) {
    return std::to_string(static_cast<std::size_t>(sum)) + " of " + std::to_string(n) + " true";
  }
  const auto said = [&](double v) {  // integers with all their digits, as far as a double has them
    return kind_ != kind::real && std::fabs(v) < 9e15 ? std::to_string(static_cast<long long>(v)) : number(v);
  };
  if (kind_ == kind::id) { return "ids " + said(low) + (low < high ? " to " + said(high) : ""); }
  std::string s;
  if (counted > 0) {
    const bool real = kind_ == kind::real;
    s = "min " + said(low) + (real ? ", mean " + number(sum / static_cast<double>(counted)) : "") + ", max " +
        said(high);
  }
  if (kind_ == kind::real) { s += (counted > 0 ? ", " : "") + std::to_string(nan) + " NaN"; }
  if (above > 0) { s += ", " + std::to_string(above) + " inf"; }
  if (below > 0) { s += ", " + std::to_string(below) + " -inf"; }
  return s;
}

DIMWISE_DETAIL_LIBRARY std::string printed_values::tables() const {
  const std::size_t rank = dims_.size();
  if (rank == 0 || size() == 0) { return ""; }
  const std::size_t columns = dims_[rank - 1].extent;
  const std::size_t rows = rank > 1 ? dims_[rank - 2].extent : 1;
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
  const printed_dimension& across_dim = dims_[rank - 1];
  const printed_dimension down_dim = rank > 1 ? dims_[rank - 2] : printed_dimension{"", 1, {""}};
  std::size_t width = 0;
  for (const std::size_t c : across) { width = std::max(width, c == gap ? 0 : columns_of(across_dim.word(c))); }
  for (const std::size_t i : shown) { width = std::max(width, format(i, how).size()); }
  const std::string corner = (rank > 1 ? down_dim.name + " \\ " : "") + across_dim.name;
  std::size_t margin = columns_of(corner);
  for (const std::size_t r : down) { margin = std::max(margin, r == gap ? 0 : columns_of(down_dim.word(r))); }

  std::string s;
  for (const std::size_t t : tables) {
    if (t == gap) {
      s += "…\n";
      continue;
    }
    if (rank > 2) { s += place_in_words(dims_, t) + "\n"; }
    s += padded(corner, margin);
    for (const std::size_t c : across) { s += c == gap ? "  …" : "  " + padded(across_dim.word(c), width); }
    s += "\n";
    for (const std::size_t r : down) {
      if (r == gap) {
        s += std::string(margin - 1, ' ') + "…\n";
        continue;
      }
      s += padded(down_dim.word(r), margin);
      for (const std::size_t c : across) {
        s += c == gap ? "  …" : "  " + padded(format((t * rows + r) * columns + c, how), width);
      }
      s += "\n";
    }
  }
  return s;
}

DIMWISE_DETAIL_LIBRARY std::size_t printed_values::size() const {
  std::size_t n = 1;
  for (const printed_dimension& d : dims_) { n *= d.extent; }
  return n;
}

DIMWISE_DETAIL_LIBRARY std::vector<std::size_t> printed_values::places(std::size_t count, std::size_t half) {
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

DIMWISE_DETAIL_LIBRARY printed_values::style printed_values::style_of(const std::vector<std::size_t>& shown) const {
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

DIMWISE_DETAIL_LIBRARY std::string printed_values::format(std::size_t i, style how) const {
  if (kind_ == kind::truth) { return at(i) != 0 ? "true" : "false"; }
  if (kind_ == kind::whole || kind_ == kind::id) { return std::to_string(whole_at(i)); }
  const double v = at(i);
  if (std::isnan(v)) { return "nan"; }
  if (std::isinf(v)) { return v < 0 ? "-inf" : "inf"; }
  char text[48];
  const int n = std::snprintf(text, sizeof(text), how.scientific ? "%.*e" : "%.*f", how.decimals, v);
  return {text, static_cast<std::size_t>(n)};
}

DIMWISE_DETAIL_LIBRARY std::string printed_values::number(double v) {
  if (std::isinf(v)) { return v < 0 ? "-inf" : "inf"; }
  if (std::isnan(v)) { return "nan"; }
  char text[48];
  const int n = std::snprintf(text, sizeof(text), "%.4g", v);
  return {text, static_cast<std::size_t>(n)};
}

DIMWISE_DETAIL_LIBRARY std::string printed_values::padded(const std::string& s, std::size_t width) {
  return std::string(width - std::min(width, columns_of(s)), ' ') + s;
}

}  // namespace dimwise::detail

DIMWISE_DETAIL_TEXT_END;
