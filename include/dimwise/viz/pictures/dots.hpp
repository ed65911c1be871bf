// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/pictures/dots.hpp -- draw_dots: dot plots with one row per measurement and one dot per series.
//
// Layer: viz. For comparisons row by row, such as the times of several libraries (Cleveland 1984).
// Tests: tests/viz/charts.test.cpp
//
//   draw_dots({"n 128", "n 512"}, {{"ours", {1, 1}}, {"theirs", {1.3, 1.2}}}, {.title = "time", .x = "times ours"});
#pragma once

#include <dimwise/support/text_warning.hpp>
#include <dimwise/viz/pictures/curve.hpp>

#include <algorithm>
#include <string>
#include <vector>

DIMWISE_DETAIL_TEXT_BEGIN;

namespace dimwise {

/// The labels of a dot plot, and whether its axis is logarithmic. A logarithmic axis cannot show zero and negative
/// values.
struct dot_options {
  std::string title = "values";
  std::string x = {};
  bool log = false;
};

namespace no_adl {

/// Draws one dot per row and series; NaN and infinities have no dot. The ticks are repeated at the bottom. Throws
/// `extent_error` if the number of values of a series differs from the number of rows.
[[nodiscard]] inline picture draw_dots(const std::vector<std::string>& rows, const std::vector<curve>& series,
                                       const dot_options& o = {}) {
  using namespace detail;
  constexpr double width = 520;
  constexpr double top = 66;
  constexpr double line = 20;
  std::size_t letters = 1;
  for (const std::string& row : rows) { letters = std::max(letters, columns_of(row)); }
  chart_axis across(o.log);
  for (const curve& one : series) {
    if (one.values.size() != rows.size()) {
      raise<extent_error>(error{} << "draw_dots: " << one.name.c_str() << " has " << one.values.size() << " values for "
                                  << rows.size() << " rows");
    }
    for (const double v : one.values) { across.take(v); }
  }
  across.end_at_marks(6);
  const double left = 30 + letter_width * static_cast<double>(letters);
  const double bottom = top + line * static_cast<double>(rows.size());

  canvas c;
  c.text(14, 24, o.title, "strong");
  for (const double v : across.marks()) {
    const double x = left + width * across.place(v);
    c.path("M" + point(x, top - 6) + "V" + svg_number(bottom), "rule");
    c.text(x, top - 12, scale_number(v), "middle soft small");
    c.text(x, bottom + 14, scale_number(v), "middle soft small");
  }
  std::string description = o.title + (o.x.empty() ? "." : ", " + o.x + ".");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double y = top + line * (static_cast<double>(r) + 0.5);
    c.path("M" + point(left, y) + "h" + svg_number(width), "rule");
    c.text(left - 10, y + 4, rows[r], "end");
    description += " " + rows[r] + ":";
    for (std::size_t k = 0; k < series.size(); ++k) {
      const double v = series[k].values[r];
      if (!across.has(v)) { continue; }
      c.dot(left + width * across.place(v), y, 5, "dot k" + std::to_string(k % colour_count),
            rows[r] + ", " + series[k].name + ": " + scale_number(v));
      description += " " + series[k].name + " " + scale_number(v) + ";";
    }
  }
  c.text(left + width / 2, bottom + 30, o.x, "middle soft small");
  double key = left;
  for (std::size_t k = 0; k < series.size(); ++k) {
    c.dot(key + 5, bottom + 48, 5, "dot k" + std::to_string(k % colour_count));
    c.text(key + 16, bottom + 52, series[k].name, "small");
    key += 36 + letter_width * static_cast<double>(columns_of(series[k].name));
  }
  return {std::max(left + width + 24, key), bottom + 64, o.title, description, c.str()};
}

}  // namespace no_adl

}  // namespace dimwise

DIMWISE_DETAIL_TEXT_END;
