// SPDX-License-Identifier: BSL-1.0
// dimwise/viz/live.hpp -- a model that a report page runs interactively: its settings and its entry points.
//
// Layer: viz. One function produces the runs that a page stores and those that it computes. A WebAssembly program that
// exports `room` and `answer` is embedded in the page; it takes the settings as text and returns the run as JSON
// (examples/live/exports.hpp).
// Tests: tests/viz/report.test.cpp, tests/viz/report_browser.mjs
//
//   page.add_live({"letters", "32 at most", {"head 1", "head 2"}, run}, {{.text = "abcabc"}}, program);
#pragma once

#include <dimwise/dim/error.hpp>
#include <dimwise/expr/masks/position_masks.hpp>
#include <dimwise/support/text_warning.hpp>
#include <dimwise/viz/text/words.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

DIMWISE_DETAIL_TEXT_BEGIN;

namespace dimwise {

class attention_report;

/// The settings that a reader selects.
struct live_settings {
  std::string text{};            ///< the sequence
  std::string mask = "causal";   ///< "causal", "none", or "window": a query and the keys before it, `width` in all
  std::size_t width = 4;         ///< the number of keys in a window
  std::vector<bool> heads = {};  ///< which heads are on; heads past the end are on

  /// Whether a head is on.
  [[nodiscard]] bool on(std::size_t head) const { return head >= heads.size() || heads[head]; }
  /// The selected mask. Throws `error` for an unknown name, and for a window without keys.
  template <class Q, class K>
  [[nodiscard]] window<Q, K> visible() const {
    if (mask == "none") { return {-1, -1}; }
    if (mask == "causal") { return {-1, 0}; }
    if (mask != "window") { throw error(error{} << "unknown mask " << mask.c_str()); }
    if (width == 0) { throw error(error{} << "a window has at least one key"); }
    constexpr std::size_t most = std::numeric_limits<std::ptrdiff_t>::max() / 2;  // longer than any text
    return {static_cast<std::ptrdiff_t>(std::min(width - 1, most)), 0};
  }
};

/// A model that a report page runs. `run` throws an exception for invalid settings, whose message the reader sees.
struct live_model {
  std::string label;                                          ///< the unit of the text: "letters"
  std::string hint;                                           ///< the hint below the text field
  std::vector<std::string> heads;                             ///< the heads that can be switched off
  std::function<attention_report(const live_settings&)> run;  ///< runs the model with these settings
};

namespace detail {

inline std::string in_base64(std::string_view bytes) {
  static constexpr const char* letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string all;
  all.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned three = 0;
    for (std::size_t k = i; k < i + 3; ++k) {
      three = three << 8 | (k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0U);
    }
    for (unsigned k = 0; k < 4; ++k) { all += i + k > bytes.size() ? '=' : letters[three >> (18 - 6 * k) & 63U]; }
  }
  return all;
}

inline std::string members_of(const live_settings& s) {
  std::string off;
  for (std::size_t i = 0; i < s.heads.size(); ++i) {
    if (!s.heads[i]) { off += (off.empty() ? "" : ",") + std::to_string(i); }
  }
  return "\"text\":" + in_json(s.text) + ",\"mask\":" + in_json(s.mask) + ",\"width\":" + std::to_string(s.width) +
         ",\"off\":[" + off + "]";
}

// Parses the request of the page: one line each for the mask, the width and a digit per head, then the text.
inline live_settings settings_in(std::string_view request) {
  const auto line = [&] {
    const std::string_view first = request.substr(0, request.find('\n'));
    request.remove_prefix(std::min(first.size() + 1, request.size()));
    return first;
  };
  live_settings s;
  s.mask = line();
  const std::string_view width = line();
  s.width = 0;  // an invalid number is rejected as a window without keys
  if (std::from_chars(width.data(), width.data() + width.size(), s.width).ec == std::errc::result_out_of_range) {
    s.width = std::numeric_limits<std::size_t>::max();
  }
  for (const char c : line()) { s.heads.push_back(c != '0'); }
  s.text = request;
  return s;
}

}  // namespace detail

}  // namespace dimwise

DIMWISE_DETAIL_TEXT_END;
