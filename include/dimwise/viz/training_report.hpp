// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/training_report.hpp -- an HTML page of a training that runs: loss, learning rate, gradient norm, time per
// step, and sampled text.
//
// Layer: viz. The page is written while the training runs, as a whole and at most once per interval. Opened from disk,
// it loads itself again until the training is finished. Long trainings are drawn as means of several steps.
// Tests: tests/viz/training_report.test.cpp, tests/viz/report_browser.mjs
//
//   training_report page("training.html", {.loss = "nats per byte", .steps = 600});
//   page.add_step(step, {.loss = loss, .rate = rate, .gradient_norm = norm_of(gradient)});
//   page.finish();
#pragma once

#include <dimwise/support/library.hpp>
#include <dimwise/support/text_warning.hpp>
#include <dimwise/viz/page/page.hpp>
#include <dimwise/viz/pictures/curve.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

DIMWISE_DETAIL_TEXT_BEGIN;

namespace dimwise {

/// The measurements of one training step. A quantity that is never given has no chart.
struct training_step {
  double loss = 0;                        ///< the loss before the step
  std::optional<double> rate{};           ///< the learning rate
  std::optional<double> gradient_norm{};  ///< the norm of the gradient before it is clipped
  std::optional<double> seconds{};        ///< the time of the step; by default the time since the last call
};

/// The words of a training report, the planned number of steps (0: unknown), and the shortest time between two writes.
struct training_report_options {
  std::string title = "training";
  std::string loss = {};  ///< the unit of the loss: "nats per byte"
  std::size_t steps = 0;  ///< the number of the last step
  double interval = 5;    ///< seconds; the page loads itself again as often
};

/// A page of a training that runs. It is written at once, then at most once per interval, and by `finish`.
class training_report {
 public:
  /// Writes a page without steps. Throws `error` if the file cannot be written or the interval is not 0 or more.
  explicit training_report(std::string path, training_report_options o = {});

  /// Adds a step; numbers of steps increase. Writes the page if the interval has passed. Throws `error` if the number
  /// does not increase or the file cannot be written.
  void add_step(std::size_t step, const training_step& s);
  /// Adds a text that the model has generated after a step. The page shows the last 20. Writes the page if the interval
  /// has passed.
  void add_text(std::size_t step, const std::string& text);
  /// Writes the page for the last time: it says `how` the training ended, and no longer loads itself again.
  void finish(const std::string& how = "finished");

  /// The page as it would be written now.
  [[nodiscard]] std::string html() const;
  /// Writes the page now, whole or not at all. Throws `error` on failure.
  void save();

 private:
  using clock = std::chrono::steady_clock;
  using series = std::vector<std::optional<double>>;  // one value per step, or none
  static constexpr std::size_t most_texts = 20;
  static constexpr std::size_t most_points = 400;  // of a chart

  void save_if_due();
  // Earlier steps without the quantity have no value.
  void add(series& values, std::optional<double> v) const;

  [[nodiscard]] std::string state() const;
  static std::string rounded(double v);

  [[nodiscard]] std::string charts() const;
  // A chart of at most `most_points` points: means of as many steps as that takes, and the largest of them.
  [[nodiscard]] std::string chart(const std::string& title, const std::string& unit, const series& values) const;
  // The newest text comes first.
  [[nodiscard]] std::string texts() const;
  // Keeps line breaks; other control characters are shown as symbols.
  static std::string lines(const std::string& text);

  std::string path_;
  training_report_options o_;
  std::vector<std::size_t> steps_{};
  double time_ = 0;  // of all steps
  series loss_{};
  series rate_{};
  series norm_{};
  series seconds_{};
  std::vector<std::pair<std::size_t, std::string>> texts_{};
  std::size_t text_count_ = 0;
  std::string ended_{};
  clock::time_point written_{};
  clock::time_point measured_{};
};

}  // namespace dimwise

DIMWISE_DETAIL_TEXT_END;

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/viz/training_report_definitions.hpp>
#endif
