// SPDX-License-Identifier: BSL-1.0
// dimwise/dim/error.hpp -- the exceptions that dimwise throws for invalid extents, ids, positions, numbers and files.
//
// Layer: dim. Includes: only <exception> and <new>. Messages live in a fixed buffer, so that throwing never allocates.
// Tests: tests/tensor/errors.test.cpp
#pragma once

#include <dimwise/support/compiler.hpp>
#include <dimwise/support/library.hpp>
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
  [[nodiscard]] DIMWISE_DETAIL_LIBRARY const char* what() const noexcept override;

  /// Appends text, the name of a dimension, or a number; the message is truncated at the end of the buffer. Control
  /// characters and bidirectional controls in text are escaped.
  DIMWISE_DETAIL_LIBRARY error& operator<<(const char* s);
  DIMWISE_DETAIL_LIBRARY error& operator<<(detail::text s);
  DIMWISE_DETAIL_LIBRARY error& operator<<(std::size_t n);
  DIMWISE_DETAIL_LIBRARY error& operator<<(long long n);
  DIMWISE_DETAIL_LIBRARY error& operator<<(double x);
  error& operator<<(int n) { return *this << static_cast<long long>(n); }

 private:
  DIMWISE_DETAIL_LIBRARY void put(char c);
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
  DIMWISE_DETAIL_LIBRARY allocation_error(std::size_t bytes, const char* what);
  /// Constructs the error of an allocation of `count` elements; the number of bytes may exceed `std::size_t`.
  DIMWISE_DETAIL_LIBRARY allocation_error(std::size_t count, std::size_t bytes_of_one, const char* what);
  [[nodiscard]] DIMWISE_DETAIL_LIBRARY const char* what() const noexcept override;
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

template <class Name>
[[noreturn]] void throw_number(Name operation, const char* what, double x, const char* expected) {
  raise<number_error>(error{} << operation << ": " << what << " is " << x << ", a " << expected << " is expected");
}
// The number that an operation is given, if it is finite and more than 0.
inline double positive(const char* operation, const char* what, double x) {
  if (!(x > 0 && x - x == 0)) { throw_number(operation, what, x, "finite number of more than 0"); }
  return x;
}

template <class D>
constexpr text dimension_name() {
  return raw_type_name<D>();
}

#if DIMWISE_DETAIL_HAS_LIBRARY
DIMWISE_DETAIL_LIBRARY_TEMPLATE void raise<error>(const error&);
DIMWISE_DETAIL_LIBRARY_TEMPLATE void raise<extent_error>(const error&);
DIMWISE_DETAIL_LIBRARY_TEMPLATE void raise<index_error>(const error&);
DIMWISE_DETAIL_LIBRARY_TEMPLATE void raise<origin_error>(const error&);
DIMWISE_DETAIL_LIBRARY_TEMPLATE void raise<gradient_error>(const error&);
DIMWISE_DETAIL_LIBRARY_TEMPLATE void raise<number_error>(const error&);
#endif

}  // namespace detail
}  // namespace dimwise

#if DIMWISE_DETAIL_DEFINES_LIBRARY
#include <dimwise/dim/error_definitions.hpp>
#endif
