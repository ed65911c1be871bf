// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/pictures/dots_definitions.hpp -- charts of dots (support/library.hpp).
//
// Layer: viz.
#pragma once

#include <dimwise/viz/pictures/dots.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

DIMWISE_DETAIL_TEXT_BEGIN;

namespace dimwise::detail {

DIMWISE_DETAIL_LIBRARY std::string mark_of(std::size_t k, double x, double y) {
  static constexpr std::array<const char*, colour_count> outlines{
      "m-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z",                                    // circle
      "m-4.5 -4.5h9v9h-9z",                                                       // square
      "m0 -5.5l5.5 10h-11z",                                                      // triangle
      "m0 -6l6 6l-6 6l-6 -6z",                                                    // diamond
      "m0 5.5l5.5 -10h-11z",                                                      // triangle upside down
      "m-1.7 -5.5h3.4v3.8h3.8v3.4h-3.8v3.8h-3.4v-3.8h-3.8v-3.4h3.8z",             // plus
      "m-2 -6h4v12h-4z",                                                          // bar
      "m-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0zm3 0a2 2 0 1 1 4 0a2 2 0 1 1 -4 0z",  // ring
  };
  return "M" + point(x, y) + outlines.at(k % colour_count);
}

DIMWISE_DETAIL_LIBRARY std::vector<double> moved_apart(const std::vector<double>& x) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return x[a] != x[b] ? x[a] < x[b] : a < b; });
  std::vector<double> moves(x.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && x[order[end]] - x[order[end - 1]] < dot_room) { ++end; }
    const double middle = static_cast<double>(end - begin - 1) / 2;
    for (std::size_t i = begin; i < end; ++i) {
      moves[order[i]] = dot_room * (static_cast<double>(i - begin) - middle);
    }
    begin = end;
  }
  return moves;
}

}  // namespace dimwise::detail

namespace dimwise::no_adl {

DIMWISE_DETAIL_LIBRARY picture draw_dots(const std::vector<std::string>& rows, const std::vector<curve>& series,
                                         const dot_options& o) {
  using namespace detail;
  constexpr double width = 520;
  constexpr double top = 66;
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
  std::vector<left_out> rest(series.size());
  std::vector<dot_row> dots(rows.size());
  double line = 20;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t k = 0; k < series.size(); ++k) {
      const double v = series[k].values[r];
      rest[k].take(v, across.has(v));
      if (!across.has(v)) { continue; }
      dots[r].drawn.push_back(k);
      dots[r].x.push_back(left + width * across.place(v));
    }
    dots[r].moves = moved_apart(dots[r].x);
    for (const double move : dots[r].moves) { line = std::max(line, 2 * move + dot_room + 4); }
  }
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
    for (std::size_t i = 0; i < dots[r].drawn.size(); ++i) {
      const std::size_t k = dots[r].drawn[i];
      const std::string value = scale_number(series[k].values[r]);
      c.path(mark_of(k, dots[r].x[i], y + dots[r].moves[i]), "dot mark " + colour_of(k), 1,
             rows[r] + ", " + series[k].name + ": " + value);
      description += " " + series[k].name + " " + value + ";";
    }
  }
  c.text(left + width / 2, bottom + 30, o.x, "middle soft small");
  double key = left;
  for (std::size_t k = 0; k < series.size(); ++k) {
    const std::string name = name_and_rest(series[k].name, rest[k]);
    if (name != series[k].name) { description += " " + name + "."; }
    c.path(mark_of(k, key + 5, bottom + 48), "dot mark " + colour_of(k));
    c.text(key + 16, bottom + 52, name, "small");
    key += 36 + letter_width * static_cast<double>(columns_of(name));
  }
  return {std::max(left + width + 24, key), bottom + 64, o.title, description, c.str()};
}

}  // namespace dimwise::no_adl

DIMWISE_DETAIL_TEXT_END;
