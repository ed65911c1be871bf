// SPDX-License-Identifier: BSL-1.0
// dimwise/text/settings.hpp -- a reader of settings of a tokenizer.json whose errors name the setting.
//
// Layer: text.
// Tests: tests/text/tokenizer.test.cpp
#pragma once

#include <dimwise/io/config.hpp>
#include <dimwise/text/unicode.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace dimwise::text::detail {

using nlohmann::json;
using ids = std::vector<std::uint32_t>;

// Rejects unsupported settings by name.
class reader {
 public:
  explicit reader(std::string title) : title_(std::move(title)) {}
  [[nodiscard]] const std::string& title() const { return title_; }
  [[noreturn]] void refuse(const std::string& what) const { throw io::file_error(title_ + ": " + what); }
  [[nodiscard]] const json& at(const json& from, const char* key, const char* where) const {
    if (!from.is_object() || !from.contains(key)) { refuse(std::string(where) + " lacks " + key); }
    return from.at(key);
  }
  [[nodiscard]] std::string word(const json& from, const char* key, const char* where) const {
    const json& value = at(from, key, where);
    if (!value.is_string()) { refuse(std::string(where) + ": " + key + " is not a string"); }
    return value.get<std::string>();
  }
  // A string of one code point.
  [[nodiscard]] code_point point(const json& from, const char* key, const char* where) const {
    const std::string text = word(from, key, where);
    const std::u32string points = decoded(text);
    if (points.size() != 1) {
      refuse(std::string(where) + ": " + key + " is " + io::detail::printable(text) + ", one character was expected");
    }
    return points.front();
  }
  // A list. nlohmann::json would iterate over a string or a number as one element.
  [[nodiscard]] const json& list(const json& from, const char* key, const char* where) const {
    const json& all = at(from, key, where);
    if (!all.is_array()) { refuse(std::string(where) + ": " + key + " is not a list"); }
    return all;
  }
  // An integer below 2^32.
  [[nodiscard]] std::size_t count(const json& value, const char* of) const {
    if (!value.is_number_integer() || value < 0 || value.get<std::uint64_t>() >= (std::uint64_t{1} << 32)) {
      refuse(std::string(of) + " is not an integer from 0 to 2^32 - 1");
    }
    return value.get<std::size_t>();
  }
  // A pattern as shown in messages. Known patterns have long common prefixes.
  [[nodiscard]] static std::string shown_pattern(const json& pattern) {
    for (const char* kind : {"Regex", "String"}) {
      if (pattern.is_object() && pattern.contains(kind) && pattern.at(kind).is_string()) {
        return std::string("the ") + kind + " " + io::detail::printable(pattern.at(kind).get<std::string>(), 400);
      }
    }
    return io::detail::printable(pattern.dump(-1, ' ', true, json::error_handler_t::replace));
  }
  // Null is treated as absent.
  [[nodiscard]] bool flag(const json& from, const char* key, bool otherwise) const {
    if (!from.contains(key) || from.at(key).is_null()) { return otherwise; }
    if (!from.at(key).is_boolean()) { refuse(std::string(key) + " is neither true nor false"); }
    return from.at(key).get<bool>();
  }
  [[nodiscard]] std::uint32_t id(const json& value, const std::string& of) const {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= (1U << 24)) {
      refuse("the id of " + io::detail::printable(of) + " is " +
             (value.is_structured() ? "a list or an object"
                                    : value.dump(-1, ' ', true, json::error_handler_t::replace).substr(0, 60)) +
             ", not an integer from 0 to 2^24 - 1");
    }
    return value.get<std::uint32_t>();
  }

 private:
  std::string title_;
};

}  // namespace dimwise::text::detail
