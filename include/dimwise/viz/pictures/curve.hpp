// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/pictures/curve.hpp -- draw_curves: line charts as SVG, for example of a training loss.
//
// Layer: viz. NaN and infinities leave gaps in a curve; its label says how many there are. Curves differ in colour and
// dashes.
// Tests: tests/viz/pictures.test.cpp, tests/viz/charts.test.cpp
//
//   draw_curves({{"training", losses}}, {.title = "loss", .y = "nats for each byte"}).save("loss.svg");
#pragma once

#include <dimwise/dim/error.hpp>
#include <dimwise/support/library.hpp>
#include <dimwise/support/text_warning.hpp>
#include <dimwise/viz/colours.hpp>
#include <dimwise/viz/picture.hpp>
#include <dimwise/viz/pictures/axis.hpp>

#include <string>
#include <vector>

DIMWISE_DETAIL_TEXT_BEGIN;

namespace dimwise {

/// A curve: its name in the legend, and its values.
struct curve {
  std::string name;
  std::vector<double> values;
  std::vector<double> x = {};  ///< the x coordinate of each value; without them, the values are numbered steps
};
/// The labels and axes of a chart. A logarithmic axis does not show zero and negative values.
struct curve_options {
  std::string title = "curves";
  std::string x = "step";  ///< the label of the x axis
  std::string y = {};      ///< the label of the y axis
  std::size_t first = 1;   ///< the number of the first step
  bool log_x = false;      ///< whether the x axis is logarithmic
  bool log_y = false;      ///< whether the y axis is logarithmic
  double width = 620;      ///< of the plot, in pixels
};

namespace detail {}  // namespace detail

namespace no_adl {

/// Draws curves over their steps or over x. Throws `extent_error` if the number of values of a curve differs from that
/// of x.
[[nodiscard]] DIMWISE_DETAIL_LIBRARY picture draw_curves(const std::vector<curve>& curves, const curve_options& o = {});

}  // namespace no_adl

}  // namespace dimwise

DIMWISE_DETAIL_TEXT_END;

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/viz/pictures/curve_definitions.hpp>
#endif
