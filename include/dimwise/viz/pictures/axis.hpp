// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/pictures/axis.hpp -- an axis of a chart: the mapping of values to positions, its tick marks, and the
// counts of values that it cannot show.
//
// Layer: viz.
// Tests: tests/viz/charts.test.cpp
#pragma once

#include <dimwise/support/library.hpp>
#include <dimwise/support/text_warning.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

DIMWISE_DETAIL_TEXT_BEGIN;

namespace dimwise::detail {

// The step of a scale with about `count` steps: 1, 2 or 5 times a power of ten.
DIMWISE_DETAIL_LIBRARY double round_step(double range, double count);
DIMWISE_DETAIL_LIBRARY std::string scale_number(double v);

// Counts values that a chart leaves out, by kind.
class left_out {
 public:
  // `shown`: whether the chart shows the value.
  void take(double v, bool shown);
  // "2 NaN, 1 ∞, 3 -∞, 1 not above 0"; empty if every value is shown.
  [[nodiscard]] std::string words() const;

 private:
  std::size_t nan_ = 0;
  std::size_t above_ = 0;
  std::size_t below_ = 0;
  std::size_t outside_ = 0;
};
// A name with what is left out: "train; not drawn: 2 NaN".
DIMWISE_DETAIL_LIBRARY std::string name_and_rest(const std::string& name, const left_out& rest);

class chart_axis {
 public:
  explicit chart_axis(bool logarithmic);

  // Whether the axis can show a value; the range includes such values.
  [[nodiscard]] bool has(double v) const { return std::isfinite(v) && (!log_ || (v > 1e-300 && v < 1e300)); }
  void take(double v);
  // Sets the range from the first tick to the last one, with about `count` linear steps.
  void end_at_marks(double count);
  // Sets the range from the smallest to the largest value, with the given ticks.
  void end_at_values(std::vector<double> marks);
  // The relative position of a value: 0 at the lower end, 1 at the upper end.
  [[nodiscard]] double place(double v) const;
  [[nodiscard]] const std::vector<double>& marks() const { return marks_; }

 private:
  void even_marks(double count);
  // Powers of ten, and 2 and 5 times them if there are few.
  void logarithmic_marks();

  bool log_;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -low_;
  std::vector<double> marks_{};
};

}  // namespace dimwise::detail

DIMWISE_DETAIL_TEXT_END;

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/viz/pictures/axis_definitions.hpp>
#endif
