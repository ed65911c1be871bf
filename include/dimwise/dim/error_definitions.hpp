// SPDX-License-Identifier: BSL-1.0
// dimwise/dim/error_definitions.hpp -- the messages of exceptions.
//
// Layer: dim. Compiled once if a program links the library (support/library.hpp).
// Tests: tests/tensor/errors.test.cpp
#pragma once

#include <dimwise/dim/error.hpp>
#include <dimwise/support/messages/escaped.hpp>

#include <cstdio>

namespace dimwise {

DIMWISE_DETAIL_LIBRARY const char* error::what() const noexcept { return text_; }
DIMWISE_DETAIL_LIBRARY void error::put(char c) {
  if (length_ + 1 < sizeof(text_)) {
    text_[length_++] = c;
    text_[length_] = '\0';
  }
}
DIMWISE_DETAIL_LIBRARY error& error::operator<<(const char* s) {
  std::size_t size = 0;
  while (s[size] != '\0') { ++size; }
  detail::say_escaped(s, size, [this](char c) { put(c); });
  return *this;
}
DIMWISE_DETAIL_LIBRARY error& error::operator<<(detail::text s) {
  detail::say_name(s, [this](char c) { put(c); });
  return *this;
}
DIMWISE_DETAIL_LIBRARY error& error::operator<<(std::size_t n) {
  char digits[24];
  int count = 0;
  do {
    digits[count++] = static_cast<char>('0' + n % 10);
    n /= 10;
  } while (n != 0);
  while (count > 0) { put(digits[--count]); }
  return *this;
}
DIMWISE_DETAIL_LIBRARY error& error::operator<<(long long n) {
  if (n >= 0) { return *this << static_cast<std::size_t>(n); }
  put('-');
  return *this << (std::size_t{0} - static_cast<std::size_t>(n));
}
DIMWISE_DETAIL_LIBRARY error& error::operator<<(double x) {
  char digits[32];
  std::snprintf(digits, sizeof(digits), "%.9g", x);
  return *this << digits;
}

DIMWISE_DETAIL_LIBRARY allocation_error::allocation_error(std::size_t bytes, const char* what) : bytes_(bytes) {
  text_ << "out of memory: " << bytes << " bytes for " << what << " cannot be allocated";
}
DIMWISE_DETAIL_LIBRARY allocation_error::allocation_error(std::size_t count, std::size_t bytes_of_one, const char* what)
    : bytes_(~std::size_t{0}) {
  text_ << "out of memory: " << count << " times " << bytes_of_one << " bytes for " << what << " cannot be allocated";
}
DIMWISE_DETAIL_LIBRARY const char* allocation_error::what() const noexcept { return text_.what(); }

}  // namespace dimwise
