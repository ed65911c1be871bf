// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/curve_picture.hpp -- draw_curves: numbers over steps, as the loss of a training.
//
// Layer: viz. Scales have round numbers; where a value is no number, its curve has a gap.
// Tests: tests/viz/pictures.test.cpp
//
//   draw_curves({{"training", losses}}, {.title = "loss", .y = "nats for each byte"}).save("loss.svg");
#pragma once

#include <dimwise/viz/colours.hpp>
#include <dimwise/viz/picture.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace dimwise {

/// The values of one curve, one for each step.
struct curve {
  std::string name;
  std::vector<double> values;
};
/// What stands beside curves: the title, what the axes count, and the number of the first step.
struct curve_options {
  std::string title = "curves";
  std::string x = "step";
  std::string y = {};
  std::size_t first = 1;
};

namespace detail {

// About `count` steps of a scale: 1, 2 or 5 times a power of ten.
inline double round_step(double range, double count) {
  const double raw = range / count;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  const double rest = raw / power;
  return power * (rest < 1.5 ? 1 : (rest < 3.5 ? 2 : (rest < 7.5 ? 5 : 10)));
}
inline std::string scale_number(double v) {
  if (!std::isfinite(v)) { return "no number"; }
  char digits[32];
  const auto r = std::to_chars(digits, digits + sizeof(digits), v, std::chars_format::general, 5);
  return {digits, r.ptr};
}

inline picture curves_of(const std::vector<curve>& curves, const curve_options& o) {
  constexpr double left = 62;
  constexpr double top = 48;
  constexpr double width = 620;
  constexpr double height = 260;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  std::size_t steps = 0;
  for (const curve& one : curves) {
    steps = std::max(steps, one.values.size());
    for (const double v : one.values) {
      if (!std::isfinite(v)) { continue; }
      low = std::min(low, v);
      high = std::max(high, v);
    }
  }
  if (low > high) { low = high = 0; }
  low = low >= 0 && low < 0.6 * high ? 0 : low;  // near zero, zero is shown
  if (high - low <= std::fabs(high) * 1e-9) { high += std::max(1.0, std::fabs(high) * 0.1); }
  const double step = round_step(high - low, 5);
  low = std::floor(low / step) * step;
  high = std::ceil(high / step - 1e-9) * step;
  const double last = static_cast<double>(std::max<std::size_t>(steps, 2) - 1);
  const auto x_of = [&](double i) { return left + width * i / last; };
  const auto y_of = [&](double v) { return top + height * (high - v) / (high - low); };

  canvas c;
  c.text(left, 24, o.title, "strong");
  const int rules = static_cast<int>(std::lround((high - low) / step));
  for (int i = 0; i <= rules; ++i) {
    const double v = std::fabs(low + i * step) < step / 2 ? 0 : low + i * step;
    c.path("M" + point(left, y_of(v)) + "h" + svg_number(width), "rule");
    c.text(left - 8, y_of(v) + 4, scale_number(v), "end soft small");
  }
  const auto jump = static_cast<std::size_t>(std::max(1.0, round_step(last, 6)));
  for (std::size_t i = 0; i < steps; ++i) {
    if ((o.first + i) % jump != 0) { continue; }
    c.text(x_of(static_cast<double>(i)), top + height + 18, std::to_string(o.first + i), "middle soft small");
  }
  c.text(left + width / 2, top + height + 36, o.x, "middle soft small");
  c.text(left + width, 24, o.y, "end soft small");
  std::string description = o.title + ".";
  double key = left;
  for (std::size_t k = 0; k < curves.size(); ++k) {
    const std::vector<double>& v = curves[k].values;
    const std::string colour = "k" + std::to_string(k % colour_count);
    std::string path;
    bool joined = false;
    for (std::size_t i = 0; i < v.size(); ++i) {
      const bool here = std::isfinite(v[i]);
      const bool alone = here && !joined && (i + 1 == v.size() || !std::isfinite(v[i + 1]));
      if (here) { path += (joined ? "L" : "M") + point(x_of(static_cast<double>(i)), y_of(v[i])); }
      if (alone) { path += "h0.01"; }
      joined = here;
    }
    if (!path.empty()) { c.path(path, "strand " + colour); }
    if (curves.size() > 1 || !curves[k].name.empty()) {
      c.rectangle(key, top + height + 48, 12, 4, "dot " + colour, 2);
      c.text(key + 18, top + height + 54, curves[k].name, "small");
      key += 40 + letter_width * static_cast<double>(columns_of(curves[k].name));
    }
    if (!v.empty()) {
      description += " " + curves[k].name + ": from " + scale_number(v.front()) + " to " + scale_number(v.back()) +
                     " in " + std::to_string(v.size()) + " steps.";
    }
  }
  return {std::max(left + width + 24, key), top + height + 68, o.title, description, c.str()};
}

}  // namespace detail

namespace no_adl {

/// Curves over their steps.
[[nodiscard]] inline picture draw_curves(const std::vector<curve>& curves, const curve_options& o = {}) {
  return detail::curves_of(curves, o);
}

}  // namespace no_adl

}  // namespace dimwise
