// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/pictures/curve_definitions.hpp -- line charts (support/library.hpp).
//
// Layer: viz.
#pragma once

#include <dimwise/viz/pictures/curve.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

DIMWISE_DETAIL_TEXT_BEGIN;

namespace dimwise::detail {

class curve_chart {
 public:
  curve_chart(const std::vector<curve>& curves, const curve_options& options)
      : curves_(curves), options_(options), x_axis_(options.log_x), y_axis_(options.log_y) {
    for (const curve& one : curves) {
      if (!one.x.empty() && one.x.size() != one.values.size()) {
        raise<extent_error>(error{} << "draw_curves: " << one.name.c_str() << " has " << one.values.size()
                                    << " values and " << one.x.size() << " x coordinates");
      }
    }
    fit_x_axis();
    fit_y_axis();
  }

  [[nodiscard]] picture drawn() const {
    canvas c;
    c.text(left, 24, options_.title, "strong");
    for (const double v : y_axis_.marks()) {
      c.path("M" + point(left, y_of(v)) + "h" + svg_number(options_.width), "rule");
      c.text(left - 8, y_of(v) + 4, scale_number(v), "end soft small");
    }
    for (const double x : x_axis_.marks()) { c.text(x_of(x), top + height + 18, scale_number(x), "middle soft small"); }
    c.text(left + options_.width / 2, top + height + 36, options_.x, "middle soft small");
    c.text(left + options_.width, 24, options_.y, "end soft small");
    std::string description = options_.title + ".";
    double key = left;
    for (std::size_t k = 0; k < curves_.size(); ++k) {
      const curve& one = curves_[k];
      const std::size_t dash = (k + k / colour_count) % colour_count;
      const std::string style = "strand " + colour_of(k) + (dash == 0 ? "" : " d" + std::to_string(dash));
      const std::string path = path_of(one);
      const std::string name = name_and_rest(one.name, rest_of(one));
      if (!path.empty()) { c.path(path, style); }
      if (curves_.size() > 1 || !name.empty()) {
        c.path("M" + point(key, top + height + 50) + "h40", style);
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
    return {std::max(left + options_.width + 24, key), top + height + 68, options_.title, description, c.str()};
  }

 private:
  static constexpr double left = 62;
  static constexpr double top = 48;
  static constexpr double height = 260;

  void fit_y_axis() {
    for (const curve& one : curves_) {
      for (const double v : one.values) { y_axis_.take(v); }
    }
    y_axis_.end_at_marks(5);
  }
  // The marks are round numbers on a linear axis of given x coordinates, these coordinates on a logarithmic one, and
  // round numbers of steps otherwise.
  void fit_x_axis() {
    std::vector<double> marks;
    for (const curve& one : curves_) {
      for (const double x : one.x) {
        if (x_axis_.has(x)) { marks.push_back(x); }
        x_axis_.take(x);
      }
    }
    if (marks.empty()) {
      marks = take_steps();
    } else if (!options_.log_x) {
      x_axis_.end_at_marks(6);
      return;
    }
    std::sort(marks.begin(), marks.end());
    marks.erase(std::unique(marks.begin(), marks.end()), marks.end());
    x_axis_.end_at_values(std::move(marks));
  }
  // Extends the x axis to the steps of the longest curve; returns the steps to mark.
  std::vector<double> take_steps() {
    std::size_t steps = 2;
    for (const curve& one : curves_) { steps = std::max(steps, one.values.size()); }
    const double first = static_cast<double>(options_.first);
    const double last = first + static_cast<double>(steps - 1);
    x_axis_.take(first);
    x_axis_.take(last);
    const double jump = std::max(1.0, round_step(static_cast<double>(steps - 1), 6));
    std::vector<double> marks;
    for (double x = std::ceil(first / jump) * jump; x < last + 1; x += jump) { marks.push_back(x); }
    return marks;
  }

  [[nodiscard]] double x_of(double x) const { return left + options_.width * x_axis_.place(x); }
  [[nodiscard]] double y_of(double v) const { return top + height * (1 - y_axis_.place(v)); }
  [[nodiscard]] double x_at(const curve& one, std::size_t i) const {
    return one.x.empty() ? static_cast<double>(options_.first + i) : one.x[i];
  }
  // Whether the chart shows the i-th value.
  [[nodiscard]] bool has(const curve& one, std::size_t i) const {
    return i < one.values.size() && y_axis_.has(one.values[i]) && x_axis_.has(x_at(one, i));
  }
  [[nodiscard]] left_out rest_of(const curve& one) const {
    left_out rest;
    for (std::size_t i = 0; i < one.values.size(); ++i) {
      const double v = one.values[i];
      rest.take(y_axis_.has(v) ? x_at(one, i) : v, has(one, i));
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
  const curve_options& options_;
  chart_axis x_axis_;
  chart_axis y_axis_;
};

}  // namespace dimwise::detail

namespace dimwise::no_adl {

DIMWISE_DETAIL_LIBRARY picture draw_curves(const std::vector<curve>& curves, const curve_options& o) {
  return detail::curve_chart(curves, o).drawn();
}

}  // namespace dimwise::no_adl

DIMWISE_DETAIL_TEXT_END;
