// SPDX-License-Identifier: BSL-1.0
// dimwise/io/config.hpp -- reads config.json and compares it with the types of a model; reports all mismatches at once.
//
// Layer: io.
// Tests: tests/models/decoders/gpt2.test.cpp, tests/models/decoders/llama.test.cpp
//
//   config_check config(folder / "config.json");
//   const auto words = config.extent<vocab>("vocab_size");          // compared with a static extent
//   config.expect_word("activation_function", {"gelu_new"});
//   config.finish();                                                // throws the mismatches
#pragma once

#include <dimwise/dim/dimension.hpp>
#include <dimwise/io/files/bytes.hpp>
#include <dimwise/io/files/json_tree.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dimwise::io {

namespace detail {

// The nesting depth of lists and objects. Leaves invalid JSON to the parser, which stops at the first error.
inline std::size_t nesting_of(std::string_view text) {
  std::size_t depth = 0;
  std::size_t most = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      i += c == '\\' ? 1U : 0U;
      quoted = c != '"';
    } else if (c == '[' || c == '{') {
      most = std::max(most, ++depth);
    } else if (c == ']' || c == '}') {
      depth -= depth > 0 ? 1U : 0U;
    } else {
      quoted = c == '"';
    }
  }
  return most;
}

// The number of a key in the outermost object as written: 10^20 would be printed as 1e+20.
inline std::string_view number_written(std::string_view text, std::string_view key) {
  std::string_view found;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '{' || text[i] == '[' ? 1U : 0U;
    depth -= (text[i] == '}' || text[i] == ']') && depth > 0 ? 1U : 0U;
    if (text[i] != '"') { continue; }
    const std::size_t begin = i + 1;
    for (i = begin; i < text.size() && text[i] != '"'; ++i) { i += text[i] == '\\' ? 1U : 0U; }
    if (depth != 1 || i >= text.size() || text.substr(begin, i - begin) != key) { continue; }
    const std::size_t number = text.find_first_not_of(": \t\r\n", i + 1);
    if (number != std::string_view::npos) {
      found = text.substr(number, text.find_first_not_of("+-.0123456789eE", number) - number);
    }
  }
  return found;
}

}  // namespace detail

/// Parses the JSON text of a file. Throws `file_error` for invalid JSON, and for more than 127 levels of nesting.
[[nodiscard]] inline nlohmann::json parse_json(std::string_view text, const std::string& title) {
  // The parser does not recurse, but a copy of its result and tokenizers do.
  if (detail::nesting_of(text) > 127) { throw file_error(title + ": the JSON is nested deeper than 127 levels"); }
  detail::json_builder tree;
  if (nlohmann::json::sax_parse(text.begin(), text.end(), &tree)) { return tree.take(); }
  // The parser quotes its last input, which may be the whole file.
  constexpr std::size_t longest = 240;
  const std::string& said = tree.problem();
  throw file_error(title + ": JSON was expected: " + said.substr(0, longest) + (said.size() > longest ? "…" : ""));
}
namespace detail {

inline std::string text_of_file(const std::filesystem::path& path) {
  const file_bytes file(path, file_access::read);  // files of settings are small: mapping one takes longer
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

}  // namespace detail

/// Reads a JSON file. Throws `file_error` with the position if it cannot be read or is malformed.
[[nodiscard]] inline nlohmann::json read_json(const std::filesystem::path& path) {
  return parse_json(detail::text_of_file(path), path.string());
}

/// The range of a numeric setting: any finite number, at least 0, or above 0.
enum class number_range { any, from_zero, above_zero };

/// The settings of a checkpoint. Collects mismatches; `finish` throws them.
class config_check {
 public:
  /// Reads a file, or takes given settings; throws `file_error` if they are not a JSON object.
  explicit config_check(const std::filesystem::path& path) : config_check(path, detail::text_of_file(path)) {}
  config_check(nlohmann::json settings, std::string title) : settings_(std::move(settings)), title_(std::move(title)) {
    expect_object();
  }

  /// Whether a setting exists; null counts as absent.
  [[nodiscard]] bool has(const std::string& key) const {
    const auto found = settings_->find(key);
    return found != settings_->end() && !found->is_null();
  }
  /// Whether a setting is written as null.
  [[nodiscard]] bool is_null(const std::string& key) const { return settings_->contains(key) && !has(key); }
  /// The keys of all settings that are not null.
  [[nodiscard]] std::vector<std::string> keys() const {
    std::vector<std::string> all;
    for (const auto& [key, value] : settings_->items()) {
      if (!value.is_null()) { all.push_back(key); }
    }
    return all;
  }
  /// A setting that is an object; empty if it is absent.
  [[nodiscard]] nlohmann::json object(const std::string& key) {
    if (!has(key)) { return nlohmann::json::object(); }
    if (!settings_->at(key).is_object()) {
      differs(key + " is " + shown(key) + ", an object was expected");
      return nlohmann::json::object();
    }
    return detail::held_json::copy_of(settings_->at(key)).take();
  }
  /// All settings.
  [[nodiscard]] nlohmann::json all() const { return detail::held_json::copy_of(*settings_).take(); }
  /// A setting as it is written; null if it is absent.
  [[nodiscard]] const nlohmann::json& setting(const std::string& key) const {
    static const nlohmann::json none{};
    return has(key) ? settings_->at(key) : none;
  }

  /// An integer of at least 1; `otherwise` if it is absent.
  std::size_t count(const std::string& key, std::optional<std::size_t> otherwise = {}) {
    constexpr std::uint64_t most =
        std::min<std::uint64_t>(std::uint64_t{1} << 40, std::numeric_limits<std::size_t>::max());  // less with 32 bits
    if (!has(key)) {
      if (!otherwise) { differs(key + absence(key)); }
      return otherwise.value_or(1);
    }
    const nlohmann::json& value = settings_->at(key);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() == 0 || value.get<std::uint64_t>() > most) {
      const bool beyond = value.is_number() && value.get<double>() > static_cast<double>(most);
      differs(key + " is " + shown(key) + ", a whole number from 1 " + (beyond ? "to 2^40 " : "") + "was expected");
      return otherwise.value_or(1);
    }
    return value.get<std::size_t>();
  }
  /// The extent of a dimension; must equal its static extent.
  template <dimension_type D>
  D extent(const std::string& key, std::optional<std::size_t> otherwise = {}) {
    const std::size_t before = problems_.size();
    const std::size_t n = count(key, otherwise);
    return problems_.size() == before ? implied<D>(key, n) : dimwise::detail::extent_or_static<D>(n);
  }
  /// An extent that the settings imply; `what` names its origin.
  template <dimension_type D>
  D implied(const std::string& what, std::size_t n) {
    if (D::static_extent != at_run_time && D::static_extent != n) {
      std::string name;
      detail::say_name(detail::dimension_name<D>(), [&](char c) { name += c; });
      differs(what + " is " + std::to_string(n) + ", but " + name + " has extent " + std::to_string(D::static_extent));
    }
    return dimwise::detail::extent_or_static<D>(n);
  }
  /// A number within a range, a string, or a boolean; `otherwise` if it is absent.
  double number(const std::string& key, std::optional<double> otherwise = {}, number_range range = number_range::any) {
    if (!has(key)) {
      if (!otherwise) { differs(key + absence(key)); }
      return otherwise.value_or(0);
    }
    const nlohmann::json& value = settings_->at(key);
    const double n = value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
    if (!std::isfinite(n) || (range == number_range::from_zero && n < 0) ||
        (range == number_range::above_zero && n <= 0)) {
      constexpr const char* expected[] = {"a number", "a number from 0", "a number above 0"};
      differs(key + " is " + shown(key) + ", " + expected[static_cast<std::size_t>(range)] + " was expected");
      return otherwise.value_or(0);
    }
    return n;
  }
  std::string word(const std::string& key, std::optional<std::string> otherwise = {}) {
    if (!has(key)) {
      if (!otherwise) { differs(key + absence(key)); }
      return otherwise.value_or("");
    }
    if (!settings_->at(key).is_string()) {
      differs(key + " is " + shown(key) + ", a word was expected");
      return otherwise.value_or("");
    }
    return settings_->at(key).get<std::string>();
  }
  bool flag(const std::string& key, bool otherwise) {
    if (!has(key)) { return otherwise; }
    if (!settings_->at(key).is_boolean()) {
      differs(key + " is " + shown(key) + ", true or false was expected");
      return otherwise;
    }
    return settings_->at(key).get<bool>();
  }

  /// A list of numbers, strings or booleans (read as 0 and 1); empty if it is absent.
  std::vector<double> numbers(const std::string& key) {
    return listed<double>(key, "numbers", [](const nlohmann::json& one) {
      const bool number = one.is_number() && std::isfinite(one.get<double>());
      return number ? std::optional(one.get<double>())
                    : (one.is_boolean() ? std::optional(one.get<bool>() ? 1.0 : 0.0) : std::nullopt);
    });
  }
  std::vector<std::string> words(const std::string& key) {
    return listed<std::string>(key, "words", [](const nlohmann::json& one) {
      return one.is_string() ? std::optional(one.get<std::string>()) : std::nullopt;
    });
  }

  /// Requires one of these strings; `otherwise` if the setting is absent.
  void expect_word(const std::string& key, std::initializer_list<std::string_view> accepted,
                   std::optional<std::string> otherwise = {}) {
    expect_word_of({accepted.begin(), accepted.size()}, key, std::move(otherwise));
  }
  void expect_word_of(std::span<const std::string_view> accepted, const std::string& key,
                      std::optional<std::string> otherwise = {}) {
    const std::size_t before = problems_.size();
    const std::string found = word(key, std::move(otherwise));
    if (problems_.size() > before) { return; }
    std::string expected;
    for (const std::string_view one : accepted) {
      if (one == found) { return; }
      expected += (expected.empty() ? "" : " or ") + std::string(one);
    }
    differs(key + " is " + detail::printable(found) + ", the model's type has " + expected);
  }
  /// Requires this boolean; `otherwise` if the setting is absent.
  void expect_flag(const std::string& key, bool expected, bool otherwise) {
    if (flag(key, otherwise) != expected) {
      differs(key + " is " + (expected ? "false" : "true") + (has(key) ? "" : " by default") +
              ", the model's type has " + (expected ? "true" : "false"));
    }
  }
  /// Requires this integer of at least 1, which is also the default; `reason` follows it in the mismatch.
  void expect_count(const std::string& key, std::size_t expected, const std::string& reason = "") {
    if (count(key, expected) != expected) { differs(key + " is not " + std::to_string(expected) + reason); }
  }
  /// Replaces a setting by one of another file, which mismatches that begin with its key name.
  void replace(const std::string& key, const nlohmann::json& by, const std::string& file) {
    (*settings_)[key] = detail::held_json::copy_of(by).take();
    text_.clear();  // has the replaced number
    replaced_.emplace_back(key, file);
  }
  /// Records a mismatch for `finish`.
  void differs(std::string what) {
    for (const auto& [key, file] : replaced_) {
      if (what.size() > key.size() && what.compare(0, key.size(), key) == 0 &&
          (what[key.size()] == ' ' || what[key.size()] == ':')) {
        what.insert(0, file + ": ");
        break;
      }
    }
    problems_.push_back(std::move(what));
  }
  /// Records the mismatches of a part of these settings, after the title of the part.
  void differs_in(const config_check& part) {
    for (const std::string& problem : part.problems()) { differs(part.title() + ": " + problem); }
  }
  /// Throws `file_error` with all mismatches.
  void finish() const {
    if (problems_.empty()) { return; }
    std::string text = title_ + ": the settings do not fit the model:";
    for (const std::string& line : problems_) { text += "\n  " + line; }
    throw file_error(text);
  }
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }
  [[nodiscard]] const std::string& title() const { return title_; }

 private:
  // The title first: a tree that is an argument beside it would be destroyed without memory.
  config_check(const std::filesystem::path& path, std::string text) : title_(path.string()) {
    settings_ = detail::held_json(parse_json(text, title_));
    expect_object();
    text_ = std::move(text);
  }
  void expect_object() const {
    if (!settings_->is_object()) { throw file_error(title_ + ": an object of settings was expected"); }
  }

  template <class T, class Read>
  std::vector<T> listed(const std::string& key, const char* what, const Read& read) {
    std::vector<T> all;
    if (!has(key)) { return all; }
    const nlohmann::json& list = settings_->at(key);
    const auto* const elements = list.get_ptr<const nlohmann::json::array_t*>();
    bool fits = elements != nullptr;
    for (std::size_t i = 0; fits && i < elements->size(); ++i) {
      const std::optional<T> value = read((*elements)[i]);
      fits = value.has_value();
      if (value) { all.push_back(*value); }
    }
    if (fits) { return all; }
    differs(key + ": a list of " + what + " was expected");
    return {};
  }
  // Null counts as absent, but the message mentions a key that exists.
  [[nodiscard]] const char* absence(const std::string& key) const {
    return settings_->contains(key) ? " is null, a value was expected" : " is missing";
  }
  [[nodiscard]] std::string shown(const std::string& key) const {
    if (settings_->at(key).is_number() && !text_.empty()) {
      const std::string_view written = detail::number_written(text_, key);
      return std::string(written.substr(0, 60)) + (written.size() > 60 ? "…" : "");
    }
    return settings_->at(key).is_structured()
               ? "a list or an object"
               : settings_->at(key).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace).substr(0, 60);
  }

  detail::held_json settings_{};
  std::string text_{};  // of the file, where it is one
  std::string title_;
  std::vector<std::pair<std::string, std::string>> replaced_{};  // settings of other files: the key, the file
  std::vector<std::string> problems_{};
};

}  // namespace dimwise::io
