// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/pictures/dots.hpp -- draw_dots: dot plots with one row per measurement and one dot per series.
//
// Layer: viz. For comparisons row by row, such as the times of several libraries (Cleveland 1984). Series differ in
// colour and shape; dots that would hide each other are moved apart, up and down in their row.
// Tests: tests/viz/charts.test.cpp
//
//   draw_dots({"n 128", "n 512"}, {{"ours", {1, 1}}, {"theirs", {1.3, 1.2}}}, {.title = "time", .x = "times ours"});
#pragma once

#include <dimwise/support/library.hpp>
#include <dimwise/support/text_warning.hpp>
#include <dimwise/viz/pictures/curve.hpp>

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

namespace detail {

// The outline of the dot of the k-th series around a point: another shape for each of eight series.
DIMWISE_DETAIL_LIBRARY std::string mark_of(std::size_t k, double x, double y);

// How far each dot of a row moves up or down, so that dots at nearly the same x do not hide each other.
inline constexpr double dot_room = 9;
DIMWISE_DETAIL_LIBRARY std::vector<double> moved_apart(const std::vector<double>& x);

// The dots of a row: their series, places and moves.
struct dot_row {
  std::vector<std::size_t> drawn{};
  std::vector<double> x{};
  std::vector<double> moves{};
};

}  // namespace detail

namespace no_adl {

/// Draws one dot per row and series; NaN and infinities have no dot and are counted in the label of their series. The
/// ticks are repeated at the bottom. Throws `extent_error` if the number of values of a series differs from the number
/// of rows.
[[nodiscard]] DIMWISE_DETAIL_LIBRARY picture draw_dots(const std::vector<std::string>& rows,
                                                       const std::vector<curve>& series, const dot_options& o = {});

}  // namespace no_adl

}  // namespace dimwise

DIMWISE_DETAIL_TEXT_END;

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/viz/pictures/dots_definitions.hpp>
#endif
