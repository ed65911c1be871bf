// SPDX-License-Identifier: BSL-1.0
// dimwise/dim/error.hpp -- what is thrown when something that only the run knows is wrong: extents, ids, files.
//
// Layer: dim. Includes: <exception> and <new> alone; messages live in a fixed buffer, so that throwing never allocates.
// Tests: tests/tensor/errors.test.cpp
#pragma once

#include <dimwise/support/compiler.hpp>
#include <dimwise/support/escaped.hpp>
#include <dimwise/support/name.hpp>

#include <cstddef>
#include <exception>
#include <new>

namespace dimwise {

/// The base of all that dimwise throws but `std::bad_alloc` and what derives from it, as `allocation_error`; `what()`
/// names the operation, what was wrong, and what was expected.
class error : public std::exception {
 public:
  /// What was wrong, where, and what was expected.
  [[nodiscard]] const char* what() const noexcept override { return text_; }

  /// Adds words, the name of a dimension, or a number to the text, which is cut where it is full. In words, control
  /// characters and those that change the direction of text are escaped.
  [[gnu::noinline]] error& operator<<(const char* s) {
    std::size_t size = 0;
    while (s[size] != '\0') { ++size; }
    detail::say_escaped(s, size, [this](char c) { put(c); });
    return *this;
  }
  error& operator<<(detail::text s) {
    detail::say_name(s, [this](char c) { put(c); });
    return *this;
  }
  error& operator<<(std::size_t n) {
    char digits[24];
    int count = 0;
    do {
      digits[count++] = static_cast<char>('0' + n % 10);
      n /= 10;
    } while (n != 0);
    while (count > 0) { put(digits[--count]); }
    return *this;
  }
  error& operator<<(long long n) {
    if (n >= 0) { return *this << static_cast<std::size_t>(n); }
    put('-');
    return *this << (std::size_t{0} - static_cast<std::size_t>(n));
  }
  error& operator<<(int n) { return *this << static_cast<long long>(n); }

 private:
  void put(char c) {
    if (length_ + 1 < sizeof(text_)) {
      text_[length_++] = c;
      text_[length_] = '\0';
    }
  }
  char text_[512] = {};
  std::size_t length_ = 0;
};

/// Extents that disagree, are negative, or do not fit (R15, R4).
class extent_error : public error {};
/// An id or position outside its dimension.
class index_error : public error {};
/// Positions whose origins are needed and were not given, or contradict each other (R7, R9).
class origin_error : public error {};
/// A gradient that cannot be had: what was recorded belongs to another call, or it is no number (R21).
class gradient_error : public error {};
/// A number outside the range of its use: a probability, a rate, a temperature; NaN where whole numbers store elements.
class number_error : public error {};

/// Memory that is missing: `what()` says how many bytes were asked for, and for what.
class allocation_error : public std::bad_alloc {
 public:
  /// Of so many bytes, for something that `what` names.
  allocation_error(std::size_t bytes, const char* what) : bytes_(bytes) {
    text_ << "out of memory: " << bytes << " bytes for " << what << " cannot be allocated";
  }
  /// Of so many elements, whose bytes are more than a `std::size_t` can say.
  allocation_error(std::size_t count, std::size_t bytes_of_one, const char* what) : bytes_(~std::size_t{0}) {
    text_ << "out of memory: " << count << " times " << bytes_of_one << " bytes for " << what << " cannot be allocated";
  }
  [[nodiscard]] const char* what() const noexcept override { return text_.what(); }
  /// How many bytes were asked for; the largest number where it is beyond that.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  error text_{};
  std::size_t bytes_;
};

namespace detail {

template <class E>
[[noreturn]] void raise(const error& message) {
  E thrown;
  static_cast<error&>(thrown) = message;
  throw thrown;  // NOLINT(misc-throw-by-value-catch-by-reference): a value that has a name
}

template <class D>
constexpr text dimension_name() {
  return raw_type_name<D>();
}

}  // namespace detail
}  // namespace dimwise
