// SPDX-License-Identifier: BSL-1.0
// dimwise/text/sentencepiece/wire_format.hpp -- a strict reader of protobuf's wire format: fields of one message in
// their order.
//
// Layer: text. SentencePiece's files have four kinds of messages, which do not change. libprotobuf-lite would need
// generated code of the installed version, and reads malformed fields as unknown ones.
// Tests: tests/text/sentencepiece_files.test.cpp, tests/fuzz_files/
#pragma once

#include <dimwise/text/settings.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dimwise::text::detail {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Weffc++"  // the pointer owns nothing
// The fields of a message. Each error has the position in the file and what was expected there.
class wire_reader {
 public:
  wire_reader(const reader& r, std::string_view file) : wire_reader(r, file, 0, file.size()) {}

  // Reads the next field; false at the end of the message.
  [[nodiscard]] bool next() {
    if (at_ == end_) { return false; }
    field_ = at_;
    const std::uint64_t tag = varint("the tag of a field");
    if (tag >> 3 == 0 || tag >> 3 >= (1U << 29)) {
      refuse("a field has the number " + std::to_string(tag >> 3) + ", 1 to 2^29 - 1 was expected");
    }
    number_ = static_cast<std::uint32_t>(tag >> 3);
    type_ = static_cast<unsigned>(tag & 7U);
    switch (type_) {
      case varint_type:
        value_ = varint("a varint");
        return true;
      case fixed64_type:
        value_ = fixed(8);
        return true;
      case bytes_type: {
        const std::uint64_t length = varint("the length of a field");
        if (length > end_ - at_) {
          refuse("field " + std::to_string(number_) + " has " + std::to_string(length) + " bytes, " +
                 std::to_string(end_ - at_) + " are left of its message");
        }
        begin_ = at_;
        at_ += static_cast<std::size_t>(length);
        return true;
      }
      case fixed32_type:
        value_ = fixed(4);
        return true;
      default:  // groups, and the two unused numbers
        refuse("field " + std::to_string(number_) + " has the wire type " + std::to_string(type_) +
               ", 0, 1, 2 or 5 was expected");
    }
  }
  [[nodiscard]] std::uint32_t number() const { return number_; }

  // The value of the field that was read; `what` names it in errors.
  [[nodiscard]] std::string_view bytes(const char* what) const {
    expect(bytes_type, what, "bytes");
    return file_.substr(begin_, at_ - begin_);
  }
  [[nodiscard]] std::string text(const char* what) const {
    const std::string_view all = bytes(what);
    if (const auto wrong = first_invalid_utf8(all)) { refuse_at(begin_ + *wrong, std::string(what) + " is not UTF-8"); }
    return std::string(all);
  }
  [[nodiscard]] wire_reader message(const char* what) const {
    expect(bytes_type, what, "a message");
    return {*r_, file_, begin_, at_};
  }
  [[nodiscard]] float real(const char* what) const {
    expect(fixed32_type, what, "a float of 32 bits");
    return std::bit_cast<float>(static_cast<std::uint32_t>(value_));
  }
  [[nodiscard]] bool flag(const char* what) const {
    expect(varint_type, what, "a varint");
    if (value_ > 1) { refuse(std::string(what) + " is " + std::to_string(value_) + ", 0 or 1 was expected"); }
    return value_ == 1;
  }
  // A number from `least` to `most`.
  [[nodiscard]] std::uint32_t choice(const char* what, std::uint32_t least, std::uint32_t most) const {
    expect(varint_type, what, "a varint");
    if (value_ < least || value_ > most) {
      refuse(std::string(what) + " is " + std::to_string(value_) + ", " + std::to_string(least) + " to " +
             std::to_string(most) + " was expected");
    }
    return static_cast<std::uint32_t>(value_);
  }
  // An error at the field that was read.
  [[noreturn]] void refuse(const std::string& what) const { refuse_at(field_, what); }

 private:
  static constexpr unsigned varint_type = 0;
  static constexpr unsigned fixed64_type = 1;
  static constexpr unsigned bytes_type = 2;
  static constexpr unsigned fixed32_type = 5;

  wire_reader(const reader& r, std::string_view file, std::size_t begin, std::size_t end)
      : r_(&r), file_(file), at_(begin), end_(end), field_(begin) {}

  [[noreturn]] void refuse_at(std::size_t position, const std::string& what) const {
    r_->refuse("byte " + std::to_string(position) + ": " + what);
  }
  void expect(unsigned type, const char* what, const char* expected) const {
    if (type_ != type) {
      refuse(std::string(what) + " has the wire type " + std::to_string(type_) + ", " + expected + " (type " +
             std::to_string(type) + ") was expected");
    }
  }
  std::uint64_t varint(const char* what) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) { refuse(std::string("the message ends within ") + what); }
      const auto byte = static_cast<unsigned char>(file_[at_++]);
      if (shift == 63 && byte > 1) { break; }
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) { return value; }
    }
    refuse(std::string(what) + " has more than 64 bits");
  }
  std::uint64_t fixed(std::size_t size) {
    if (size > end_ - at_) {
      refuse("field " + std::to_string(number_) + " has " + std::to_string(size) + " bytes, " +
             std::to_string(end_ - at_) + " are left of its message");
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      value |= std::uint64_t{static_cast<unsigned char>(file_[at_ + i])} << (8 * i);
    }
    at_ += size;
    return value;
  }

  const reader* r_;
  std::string_view file_;
  std::size_t at_;
  std::size_t end_;
  std::size_t field_;  // its first byte
  std::size_t begin_ = 0;
  std::uint64_t value_ = 0;
  std::uint32_t number_ = 0;
  unsigned type_ = 0;
};
#pragma GCC diagnostic pop

}  // namespace dimwise::text::detail
