// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/pictures/curve.hpp -- draw_curves: line charts, for example of a training loss.
//
// Layer: viz. Axes have round ticks. NaN and infinities leave gaps in a curve and are counted in its label. Curves
// differ in colour and dashes.
// Tests: tests/viz/pictures.test.cpp, tests/viz/charts.test.cpp
//
//   draw_curves({{"training", losses}}, {.title = "loss", .y = "nats for each byte"}).save("loss.svg");
#pragma once

#include <dimwise/dim/error.hpp>
#include <dimwise/support/text_warning.hpp>
#include <dimwise/viz/colours.hpp>
#include <dimwise/viz/picture.hpp>
#include <dimwise/viz/pictures/axis.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

DIMWISE_DETAIL_TEXT_BEGIN;

namespace dimwise {

/// The values of a curve, one per step, or one per x if given.
struct curve {
  std::string name;
  std::vector<double> values;
  std::vector<double> x = {};
};
/// The labels of a chart, the number of the first step, whether the axes are logarithmic, and the width of the plot in
/// pixels. A logarithmic axis cannot show zero and negative values.
struct curve_options {
  std::string title = "curves";
  std::string x = "step";
  std::string y = {};
  std::size_t first = 1;
  bool log_x = false;
  bool log_y = false;
  double width = 620;
};

namespace detail {

class curve_chart {
 public:
  curve_chart(const std::vector<curve>& curves, const curve_options& o)
      : curves_(curves), o_(o), across_(o.log_x), up_(o.log_y) {
    std::size_t steps = 2;
    std::vector<double> places;
    for (const curve& one : curves) {
      steps = std::max(steps, one.values.size());
      if (!one.x.empty() && one.x.size() != one.values.size()) {
        raise<extent_error>(error{} << "draw_curves: " << one.name.c_str() << " has " << one.values.size()
                                    << " values and " << one.x.size() << " x coordinates");
      }
      for (const double v : one.values) { up_.take(v); }
      for (const double x : one.x) {
        if (across_.has(x)) { places.push_back(x); }
        across_.take(x);
      }
    }
    up_.end_at_marks(5);
    const bool explicit_x = !places.empty();
    if (!explicit_x) {
      const double first = static_cast<double>(o.first);
      const auto jump = std::max(1.0, round_step(static_cast<double>(steps - 1), 6));
      across_.take(first);
      across_.take(first + static_cast<double>(steps - 1));
      for (double x = std::ceil(first / jump) * jump; x < first + static_cast<double>(steps); x += jump) {
        places.push_back(x);
      }
    }
    if (explicit_x && !o.log_x) {
      across_.end_at_marks(6);
      return;
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    across_.end_at_values(std::move(places));
  }

  [[nodiscard]] picture drawn() const {
    canvas c;
    c.text(left, 24, o_.title, "strong");
    for (const double v : up_.marks()) {
      c.path("M" + point(left, y_of(v)) + "h" + svg_number(o_.width), "rule");
      c.text(left - 8, y_of(v) + 4, scale_number(v), "end soft small");
    }
    for (const double x : across_.marks()) { c.text(x_of(x), top + height + 18, scale_number(x), "middle soft small"); }
    c.text(left + o_.width / 2, top + height + 36, o_.x, "middle soft small");
    c.text(left + o_.width, 24, o_.y, "end soft small");
    std::string description = o_.title + ".";
    double key = left;
    for (std::size_t k = 0; k < curves_.size(); ++k) {
      const curve& one = curves_[k];
      const std::size_t dash = (k + k / colour_count) % colour_count;
      const std::string look = "strand " + colour_of(k) + (dash == 0 ? "" : " d" + std::to_string(dash));
      const std::string path = path_of(one);
      const std::string name = name_and_rest(one.name, rest_of(one));
      if (!path.empty()) { c.path(path, look); }
      if (curves_.size() > 1 || !name.empty()) {
        c.path("M" + point(key, top + height + 50) + "h40", look);
        c.text(key + 48, top + height + 54, name, "small");
        key += 70 + letter_width * static_cast<double>(columns_of(name));
      }
      if (!one.values.empty()) {
        description += (one.name.empty() ? " From " : " " + one.name + ": from ") + scale_number(one.values.front()) +
                       " to " + scale_number(one.values.back()) + " in " + std::to_string(one.values.size()) +
                       " steps.";
        if (name != one.name) { description += " " + name + "."; }
      }
    }
    return {std::max(left + o_.width + 24, key), top + height + 68, o_.title, description, c.str()};
  }

 private:
  static constexpr double left = 62;
  static constexpr double top = 48;
  static constexpr double height = 260;

  [[nodiscard]] double x_of(double x) const { return left + o_.width * across_.place(x); }
  [[nodiscard]] double y_of(double v) const { return top + height * (1 - up_.place(v)); }
  [[nodiscard]] double x_at(const curve& one, std::size_t i) const {
    return one.x.empty() ? static_cast<double>(o_.first + i) : one.x[i];
  }
  // Whether the chart shows the i-th value.
  [[nodiscard]] bool has(const curve& one, std::size_t i) const {
    return i < one.values.size() && up_.has(one.values[i]) && across_.has(x_at(one, i));
  }
  [[nodiscard]] left_out rest_of(const curve& one) const {
    left_out rest;
    for (std::size_t i = 0; i < one.values.size(); ++i) {
      const double v = one.values[i];
      rest.take(up_.has(v) ? x_at(one, i) : v, has(one, i));
    }
    return rest;
  }
  // The SVG path of a curve: a gap for NaN and infinities, a dot for a value between two gaps.
  [[nodiscard]] std::string path_of(const curve& one) const {
    std::string path;
    for (std::size_t i = 0; i < one.values.size(); ++i) {
      if (!has(one, i)) { continue; }
      const bool joined = i > 0 && has(one, i - 1);
      path += (joined ? "L" : "M") + point(x_of(x_at(one, i)), y_of(one.values[i]));
      if (!joined && !has(one, i + 1)) { path += "h0.01"; }
    }
    return path;
  }

  const std::vector<curve>& curves_;
  const curve_options& o_;
  chart_axis across_;
  chart_axis up_;
};

}  // namespace detail

namespace no_adl {

/// Draws curves over their steps or over x. Throws `extent_error` if the number of values of a curve differs from that
/// of x.
[[nodiscard]] inline picture draw_curves(const std::vector<curve>& curves, const curve_options& o = {}) {
  return detail::curve_chart(curves, o).drawn();
}

}  // namespace no_adl

}  // namespace dimwise

DIMWISE_DETAIL_TEXT_END;
