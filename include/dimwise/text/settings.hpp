// SPDX-License-Identifier: BSL-1.0
// dimwise/text/settings.hpp -- the settings of a tokenizer.json, read with their place in errors.
//
// Layer: text.
// Tests: tests/text/tokenizer.test.cpp
#pragma once

#include <dimwise/io/config.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace dimwise::text::detail {

using nlohmann::json;
using ids = std::vector<std::uint32_t>;

// Settings that are not supported are refused by their place and name.
class reader {
 public:
  explicit reader(std::string title) : title_(std::move(title)) {}
  [[noreturn]] void refuse(const std::string& what) const { throw io::file_error(title_ + ": " + what); }
  [[nodiscard]] const json& at(const json& from, const char* key, const char* where) const {
    if (!from.is_object() || !from.contains(key)) { refuse(std::string(where) + " lacks " + key); }
    return from.at(key);
  }
  [[nodiscard]] std::string word(const json& from, const char* key, const char* where) const {
    const json& value = at(from, key, where);
    if (!value.is_string()) { refuse(std::string(where) + ": " + key + " is no text"); }
    return value.get<std::string>();
  }
  // What a pattern is, for messages. Known patterns differ far behind their beginnings.
  [[nodiscard]] static std::string shown_pattern(const json& pattern) {
    for (const char* kind : {"Regex", "String"}) {
      if (pattern.is_object() && pattern.contains(kind) && pattern.at(kind).is_string()) {
        return std::string("the ") + kind + " " + io::detail::printable(pattern.at(kind).get<std::string>(), 400);
      }
    }
    return io::detail::printable(pattern.dump(-1, ' ', true, json::error_handler_t::replace));
  }
  // Null counts as not said.
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
             ", no whole number below 2^24");
    }
    return value.get<std::uint32_t>();
  }

 private:
  std::string title_;
};

}  // namespace dimwise::text::detail
