// SPDX-License-Identifier: BSL-1.0
// dimwise/dim/error.hpp -- the exceptions that dimwise throws for invalid extents, ids, positions, numbers and files.
//
// Layer: dim. Includes: only <exception> and <new>. Messages live in a fixed buffer, so that throwing never allocates.
// Tests: tests/tensor/errors.test.cpp
#pragma once

#include <dimwise/support/compiler.hpp>
#include <dimwise/support/escaped.hpp>
#include <dimwise/support/name.hpp>

#include <cstddef>
#include <exception>
#include <new>

namespace dimwise {

/// The base of all exceptions of dimwise except `std::bad_alloc` and classes derived from it (`allocation_error`).
/// `what()` names the operation, the mistake, and the expected value.
class error : public std::exception {
 public:
  /// The message: the operation, the mistake, and the expected value.
  [[nodiscard]] const char* what() const noexcept override { return text_; }

  /// Appends text, the name of a dimension, or a number; the message is truncated at the end of the buffer. Control
  /// characters and bidirectional controls in text are escaped.
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

/// Extents that differ, are negative, or do not fit (R15, R4).
class extent_error : public error {};
/// An id or position outside its dimension.
class index_error : public error {};
/// Position origins that are missing or contradict each other (R7, R9).
class origin_error : public error {};
/// A gradient that cannot be computed: it was recorded in another call, or is not a number (R21).
class gradient_error : public error {};
/// A number out of range, such as a probability, rate or temperature; NaN in a tensor of integers.
class number_error : public error {};

/// An allocation that failed; `what()` names the number of bytes and their purpose.
class allocation_error : public std::bad_alloc {
 public:
  /// Constructs the error of an allocation of `bytes` for `what`.
  allocation_error(std::size_t bytes, const char* what) : bytes_(bytes) {
    text_ << "out of memory: " << bytes << " bytes for " << what << " cannot be allocated";
  }
  /// Constructs the error of an allocation of `count` elements; the number of bytes may exceed `std::size_t`.
  allocation_error(std::size_t count, std::size_t bytes_of_one, const char* what) : bytes_(~std::size_t{0}) {
    text_ << "out of memory: " << count << " times " << bytes_of_one << " bytes for " << what << " cannot be allocated";
  }
  [[nodiscard]] const char* what() const noexcept override { return text_.what(); }
  /// The number of bytes requested, or the maximum of `std::size_t` if it is larger.
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
  throw thrown;  // NOLINT(misc-throw-by-value-catch-by-reference): a named value
}

template <class D>
constexpr text dimension_name() {
  return raw_type_name<D>();
}

}  // namespace detail
}  // namespace dimwise
