// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/pictures/axis_definitions.hpp -- axes of charts (support/library.hpp).
//
// Layer: viz.
#pragma once

#include <dimwise/viz/pictures/axis.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

DIMWISE_DETAIL_TEXT_BEGIN;

namespace dimwise::detail {

DIMWISE_DETAIL_LIBRARY double round_step(double range, double count) {
  const double raw = range / count;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  const double rest = raw / power;
  return power * (rest < 1.5 ? 1 : (rest < 3.5 ? 2 : (rest < 7.5 ? 5 : 10)));
}

DIMWISE_DETAIL_LIBRARY std::string scale_number(double v) {
  if (!std::isfinite(v)) { return std::isnan(v) ? "NaN" : (v < 0 ? "-∞" : "∞"); }
  char digits[32];
  const auto r = std::to_chars(digits, digits + sizeof(digits), v, std::chars_format::general, 5);
  return {digits, r.ptr};
}

DIMWISE_DETAIL_LIBRARY void left_out::take(double v, bool shown) {
  if (shown) { return; }
  ++(std::isnan(v) ? nan_ : (std::isinf(v) ? (v < 0 ? below_ : above_) : outside_));
}

DIMWISE_DETAIL_LIBRARY std::string left_out::words() const {
  std::string s;
  const auto add = [&](std::size_t n, const char* kind) {
    if (n > 0) { s += (s.empty() ? "" : ", ") + std::to_string(n) + " " + kind; }
  };
  add(nan_, "NaN");
  add(above_, "∞");
  add(below_, "-∞");
  add(outside_, "not above 0");  // finite values that a logarithmic axis does not have
  return s;
}

DIMWISE_DETAIL_LIBRARY std::string name_and_rest(const std::string& name, const left_out& rest) {
  const std::string words = rest.words();
  return name + (words.empty() ? "" : (name.empty() ? "" : "; ") + ("not drawn: " + words));
}

DIMWISE_DETAIL_LIBRARY chart_axis::chart_axis(bool logarithmic) : log_(logarithmic) {}

DIMWISE_DETAIL_LIBRARY void chart_axis::take(double v) {
  if (!has(v)) { return; }
  low_ = std::min(low_, v);
  high_ = std::max(high_, v);
}

DIMWISE_DETAIL_LIBRARY void chart_axis::end_at_marks(double count) {
  if (low_ > high_) { low_ = high_ = log_ ? 1 : 0; }
  log_ ? logarithmic_marks() : even_marks(count);
  low_ = marks_.front();
  high_ = marks_.back();
}

DIMWISE_DETAIL_LIBRARY void chart_axis::end_at_values(std::vector<double> marks) { marks_ = std::move(marks); }

DIMWISE_DETAIL_LIBRARY double chart_axis::place(double v) const {
  if (!(low_ < high_)) { return 0; }
  return log_ ? std::log(v / low_) / std::log(high_ / low_) : (v - low_) / (high_ - low_);
}

DIMWISE_DETAIL_LIBRARY void chart_axis::even_marks(double count) {
  const bool constant = high_ - low_ <= std::fabs(high_) * 1e-9;
  low_ = low_ >= 0 && (constant || low_ < 0.6 * high_) ? 0 : low_;  // includes zero if it is close
  if (constant && low_ != 0) { high_ += std::fabs(high_) * 0.1; }
  if (high_ == low_) { high_ += 1; }
  const double step = round_step(high_ - low_, count);
  const double first = std::floor(low_ / step);
  const double last = std::ceil(high_ / step - 1e-9);
  for (double i = first; i <= last; ++i) { marks_.push_back(i * step); }
}

DIMWISE_DETAIL_LIBRARY void chart_axis::logarithmic_marks() {
  const bool few = high_ < 1000 * low_;
  std::vector<double> round;
  for (double power = std::floor(std::log10(low_)); power <= std::ceil(std::log10(high_)) + 1; ++power) {
    for (const double times : {1.0, 2.0, 5.0}) {
      if (few || times == 1) { round.push_back(times * std::pow(10, power)); }
    }
  }
  const auto first = std::prev(std::upper_bound(round.begin(), round.end(), low_ * (1 + 1e-9)));
  const auto last = std::lower_bound(first + 1, round.end(), high_ * (1 - 1e-9));
  marks_.assign(first, last + 1);
}

}  // namespace dimwise::detail

DIMWISE_DETAIL_TEXT_END;
