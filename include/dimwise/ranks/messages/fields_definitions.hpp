// SPDX-License-Identifier: BSL-1.0
// dimwise/ranks/messages/fields_definitions.hpp -- strings and numbers packed into one string, to send to other ranks.
//
// Layer: ranks.
#pragma once

#include <dimwise/support/text_warning.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

DIMWISE_DETAIL_TEXT_BEGIN;
namespace dimwise::ranks::detail {

// A writer and reader of such a string: a number ends in a space, a string begins with its length.
class fields {
 public:
  fields() = default;
  explicit fields(std::string from) : text_(std::move(from)) {}
  void add(std::uint64_t number) { text_ += std::to_string(number) + ' '; }
  void add(const std::string& text) {
    add(text.size());
    text_ += text;
  }
  [[nodiscard]] bool has_more() const { return at_ < text_.size(); }
  [[nodiscard]] std::size_t number() {
    std::size_t n = 0;
    while (text_[at_] != ' ') { n = 10 * n + static_cast<std::size_t>(text_[at_++] - '0'); }
    ++at_;
    return n;
  }
  [[nodiscard]] std::string words() {
    const std::size_t length = number();
    at_ += length;
    return text_.substr(at_ - length, length);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_{};
  std::size_t at_ = 0;
};

}  // namespace dimwise::ranks::detail
DIMWISE_DETAIL_TEXT_END;
