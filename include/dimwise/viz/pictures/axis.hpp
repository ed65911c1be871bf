// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/pictures/axis.hpp -- an axis of a chart: the mapping of values to positions, its tick marks, and the
// counts of values that it cannot show.
//
// Layer: viz.
// Tests: tests/viz/charts.test.cpp
#pragma once

#include <dimwise/support/text_warning.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

DIMWISE_DETAIL_TEXT_BEGIN;

namespace dimwise::detail {

// The step of a scale with about `count` steps: 1, 2 or 5 times a power of ten.
inline double round_step(double range, double count) {
  const double raw = range / count;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  const double rest = raw / power;
  return power * (rest < 1.5 ? 1 : (rest < 3.5 ? 2 : (rest < 7.5 ? 5 : 10)));
}
inline std::string scale_number(double v) {
  if (!std::isfinite(v)) { return std::isnan(v) ? "NaN" : (v < 0 ? "-∞" : "∞"); }
  char digits[32];
  const auto r = std::to_chars(digits, digits + sizeof(digits), v, std::chars_format::general, 5);
  return {digits, r.ptr};
}

// Counts values that a chart leaves out, by kind.
class left_out {
 public:
  // `shown`: whether the chart shows the value.
  void take(double v, bool shown) {
    if (shown) { return; }
    ++(std::isnan(v) ? nan_ : (std::isinf(v) ? (v < 0 ? below_ : above_) : outside_));
  }
  // "2 NaN, 1 ∞, 3 -∞, 1 not above 0"; empty if every value is shown.
  [[nodiscard]] std::string words() const {
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

 private:
  std::size_t nan_ = 0;
  std::size_t above_ = 0;
  std::size_t below_ = 0;
  std::size_t outside_ = 0;
};
// A name with what is left out: "train; not drawn: 2 NaN".
inline std::string name_and_rest(const std::string& name, const left_out& rest) {
  const std::string words = rest.words();
  return name + (words.empty() ? "" : (name.empty() ? "" : "; ") + ("not drawn: " + words));
}

class chart_axis {
 public:
  explicit chart_axis(bool logarithmic) : log_(logarithmic) {}

  // Whether the axis can show a value; the range includes such values.
  [[nodiscard]] bool has(double v) const { return std::isfinite(v) && (!log_ || (v > 1e-300 && v < 1e300)); }
  void take(double v) {
    if (!has(v)) { return; }
    low_ = std::min(low_, v);
    high_ = std::max(high_, v);
  }
  // Sets the range from the first tick to the last one, with about `count` linear steps.
  void end_at_marks(double count) {
    if (low_ > high_) { low_ = high_ = log_ ? 1 : 0; }
    log_ ? logarithmic_marks() : even_marks(count);
    low_ = marks_.front();
    high_ = marks_.back();
  }
  // Sets the range from the smallest to the largest value, with the given ticks.
  void end_at_values(std::vector<double> marks) { marks_ = std::move(marks); }
  // The relative position of a value: 0 at the lower end, 1 at the upper end.
  [[nodiscard]] double place(double v) const {
    if (!(low_ < high_)) { return 0; }
    return log_ ? std::log(v / low_) / std::log(high_ / low_) : (v - low_) / (high_ - low_);
  }
  [[nodiscard]] const std::vector<double>& marks() const { return marks_; }

 private:
  void even_marks(double count) {
    const bool constant = high_ - low_ <= std::fabs(high_) * 1e-9;
    low_ = low_ >= 0 && (constant || low_ < 0.6 * high_) ? 0 : low_;  // includes zero if it is close
    if (constant && low_ != 0) { high_ += std::fabs(high_) * 0.1; }
    if (high_ == low_) { high_ += 1; }
    const double step = round_step(high_ - low_, count);
    const double first = std::floor(low_ / step);
    const double last = std::ceil(high_ / step - 1e-9);
    for (double i = first; i <= last; ++i) { marks_.push_back(i * step); }
  }
  // Powers of ten, and 2 and 5 times them if there are few.
  void logarithmic_marks() {
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

  bool log_;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -low_;
  std::vector<double> marks_{};
};

}  // namespace dimwise::detail

DIMWISE_DETAIL_TEXT_END;
