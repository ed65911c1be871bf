// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/training_report_definitions.hpp -- the members of a training report (support/library.hpp).
//
// Layer: viz.
#pragma once

#include <dimwise/viz/training_report.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

DIMWISE_DETAIL_TEXT_BEGIN;

namespace dimwise {

DIMWISE_DETAIL_LIBRARY training_report::training_report(std::string path, training_report_options o)
    : path_(std::move(path)), o_(std::move(o)) {
  if (!(o_.interval >= 0 && std::isfinite(o_.interval))) {
    throw error(error{} << "training_report: the interval is " << o_.interval << " s, 0 or more were expected");
  }
  save();
}

DIMWISE_DETAIL_LIBRARY void training_report::add_step(std::size_t step, const training_step& s) {
  if (!steps_.empty() && step <= steps_.back()) {
    throw error(error{} << "training_report: step " << step << " follows step " << steps_.back());
  }
  const double passed = std::chrono::duration<double>(clock::now() - measured_).count();
  steps_.push_back(step);
  add(loss_, s.loss);
  add(rate_, s.rate);
  add(norm_, s.gradient_norm);
  add(seconds_, s.seconds.value_or(passed));
  time_ += seconds_.back().value_or(0);
  save_if_due();
}

DIMWISE_DETAIL_LIBRARY void training_report::add_text(std::size_t step, const std::string& text) {
  texts_.emplace_back(step, text);
  if (texts_.size() > most_texts) { texts_.erase(texts_.begin()); }
  ++text_count_;
  save_if_due();
}

DIMWISE_DETAIL_LIBRARY void training_report::finish(const std::string& how) {
  ended_ = how;
  save();
}

DIMWISE_DETAIL_LIBRARY std::string training_report::html() const {
  using namespace std::chrono;
  const auto now = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
  const std::string every = detail::scale_number(std::max(o_.interval, 0.5));
  const std::string again = ended_.empty() ? " data-interval=\"" + every + "\"" : "";
  const std::string title = detail::in_xml(o_.title);
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n" +
         (ended_.empty() ? R"(<noscript><meta http-equiv="refresh" content=")" + every + "\"></noscript>\n" : "") +
         "<title>" + title + "</title>\n<style>" + detail::style_sheet + detail::report_style +
         "</style>\n</head>\n<body class=\"dw\">\n<main>\n<h1>" + title + "</h1>\n<p id=\"state\" data-written=\"" +
         std::to_string(now) + "\"" + again + ">" + detail::in_xml(state()) + "</p>\n" +
         "<div class=\"controls\"><button type=\"button\" id=\"pause\" hidden>pause updates</button><span "
         "id=\"written\" "
         "class=\"note\"></span></div>\n" +
         charts() + texts() + "</main>\n<script>" + detail::training_program + "</script>\n</body>\n</html>\n";
}

DIMWISE_DETAIL_LIBRARY void training_report::save() {
  detail::save_file("training_report", path_, html());
  written_ = measured_ = clock::now();  // the time of a step excludes writing
}

DIMWISE_DETAIL_LIBRARY void training_report::save_if_due() {
  measured_ = clock::now();
  if (std::chrono::duration<double>(measured_ - written_).count() >= o_.interval) { save(); }
}

DIMWISE_DETAIL_LIBRARY void training_report::add(series& values, std::optional<double> v) const {
  if (!v) { return; }
  values.resize(steps_.size() - 1);
  values.push_back(v);
}

DIMWISE_DETAIL_LIBRARY std::string training_report::state() const {
  std::string s = ended_.empty() ? "Training. " : "The training has ended: " + ended_ + ". ";
  if (steps_.empty()) { return s + "No step is done."; }
  const double each = time_ / static_cast<double>(steps_.size());
  s += "Step " + std::to_string(steps_.back());
  if (o_.steps > 0) { s += " of " + std::to_string(o_.steps); }
  s += ": loss " + rounded(loss_.back().value_or(0)) + (o_.loss.empty() ? "" : " " + o_.loss);
  if (!rate_.empty()) { s += ", learning rate " + rounded(rate_.back().value_or(0)); }
  if (!norm_.empty()) { s += ", gradient norm " + rounded(norm_.back().value_or(0)); }
  s += ", " + rounded(each) + " s per step";
  if (ended_.empty() && o_.steps > steps_.back()) {
    s += ", about " + rounded(std::ceil(each * static_cast<double>(o_.steps - steps_.back()))) + " s left";
  }
  return s + ".";
}

DIMWISE_DETAIL_LIBRARY std::string training_report::rounded(double v) {
  if (!std::isfinite(v)) { return detail::scale_number(v); }
  char digits[32];
  const auto r = std::to_chars(digits, digits + sizeof(digits), v, std::chars_format::general, 3);
  return {digits, r.ptr};
}

DIMWISE_DETAIL_LIBRARY std::string training_report::charts() const {
  if (steps_.empty()) { return ""; }
  return "<section class=\"charts\" aria-label=\"charts\">\n" + chart("loss", o_.loss, loss_) +
         chart("learning rate", "", rate_) + chart("gradient norm", "before clipping", norm_) +
         chart("time per step", "seconds", seconds_) + "</section>\n";
}

DIMWISE_DETAIL_LIBRARY std::string training_report::chart(const std::string& title, const std::string& unit,
                                                          const series& values) const {
  if (values.empty()) { return ""; }
  const std::size_t group = (values.size() + most_points - 1) / most_points;
  curve means{"", {}, {}};
  curve most{"largest of " + std::to_string(group), {}, {}};
  detail::left_out odd;
  for (std::size_t begin = 0; begin < values.size(); begin += group) {
    const std::size_t end = std::min(begin + group, values.size());
    double sum = 0;
    double largest = -std::numeric_limits<double>::infinity();
    std::size_t count = 0;
    std::optional<double> other;  // NaN or an infinity
    for (std::size_t i = begin; i < end; ++i) {
      if (!values[i]) { continue; }
      const double v = *values[i];
      odd.take(v, std::isfinite(v));
      if (std::isfinite(v)) {
        sum += v;
        largest = std::max(largest, v);
        ++count;
      } else {
        other = v;
      }
    }
    if (count == 0 && !other) { continue; }
    means.values.push_back(count == 0 ? *other : sum / static_cast<double>(count));
    most.values.push_back(count == 0 ? *other : largest);
    means.x.push_back(static_cast<double>(steps_[end - 1]));
  }
  most.x = means.x;
  std::vector<curve> curves{std::move(means)};
  if (group > 1) {
    curves[0].name = "mean of " + std::to_string(group) + " steps";
    curves.push_back(std::move(most));
  }
  const picture drawn = no_adl::draw_curves(curves, {.title = title, .y = unit, .width = 290});
  const std::string words = odd.words();
  const std::string rest = title + ": " + words + " in " + std::to_string(values.size()) + " steps";
  return "<figure>" + drawn.inner_svg() +
         (words.empty() ? "" : "<figcaption class=\"wrong\">" + detail::in_xml(rest) + "</figcaption>") + "</figure>\n";
}

DIMWISE_DETAIL_LIBRARY std::string training_report::texts() const {
  if (texts_.empty()) { return ""; }
  std::string s = "<section aria-labelledby=\"texts\"><h2 id=\"texts\">Sampled text</h2>\n";
  for (auto t = texts_.rbegin(); t != texts_.rend(); ++t) {
    s += "<h3>after step " + std::to_string(t->first) + "</h3><pre tabindex=\"0\">" + lines(t->second) + "</pre>\n";
  }
  if (text_count_ > texts_.size()) {
    s += "<p>" + std::to_string(text_count_ - texts_.size()) + " earlier texts are left out.</p>\n";
  }
  return s + "</section>\n";
}

DIMWISE_DETAIL_LIBRARY std::string training_report::lines(const std::string& text) {
  std::string all;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    all += (begin == 0 ? "" : "\n") + detail::in_xml(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return all;
}

}  // namespace dimwise

DIMWISE_DETAIL_TEXT_END;
