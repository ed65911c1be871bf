// tests/tensor/errors.test.cpp -- what errors say, and that saying it never fails.
//
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/dim/derived.hpp>
#include <dimwise/dim/dimension.hpp>
#include <dimwise/dim/error.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <exception>
#include <limits>
#include <string>
#include <type_traits>

namespace outer_name::inner_name {
struct length : dimwise::position_dim<> {};
}  // namespace outer_name::inner_name

namespace {

struct local : dimwise::feature_dim<3> {};

template <class D>
std::string name_of() {
  return (dimwise::error() << dimwise::detail::dimension_name<D>()).what();
}

static_assert(std::is_base_of_v<std::exception, dimwise::error>);
static_assert(std::is_base_of_v<dimwise::error, dimwise::extent_error>);
static_assert(std::is_base_of_v<dimwise::error, dimwise::index_error>);
static_assert(std::is_base_of_v<dimwise::error, dimwise::origin_error>);
static_assert(std::is_nothrow_copy_constructible_v<dimwise::extent_error>);

}  // namespace

TEST_CASE("errors: numbers of every size") {
  CHECK(std::string((dimwise::error() << 0 << " " << -7 << " " << std::numeric_limits<long long>::min() << " "
                                      << std::size_t{42})
                        .what()) == "0 -7 -9223372036854775808 42");
}

TEST_CASE("errors: dimensions are called as the user calls them, without namespaces") {
  CHECK(name_of<outer_name::inner_name::length>() == "length");
  CHECK(name_of<local>() == "local");
  CHECK(name_of<dimwise::merged<outer_name::inner_name::length, local>>() == "merged<length, local>");
  CHECK(name_of<dimwise::out<local>>() == "out<local>");
}

TEST_CASE("errors: a message that is too long is cut, never overrun") {
  dimwise::error e;
  for (int i = 0; i < 300; ++i) { e << "twelve chars"; }
  e << 123456 << dimwise::detail::dimension_name<local>();
  CHECK(std::string(e.what()).size() < 512);
  CHECK(std::string(e.what()).starts_with("twelve charstwelve chars"));
}

TEST_CASE("errors: are caught by their base and keep their message") {
  try {
    dimwise::detail::raise<dimwise::index_error>(dimwise::error() << "place " << 5);
  } catch (const std::exception& caught) {
    CHECK(std::string(caught.what()) == "place 5");
    CHECK(dynamic_cast<const dimwise::index_error*>(&caught) != nullptr);
  }
}

TEST_CASE("errors: characters that a terminal obeys or that turn text around are shown, not sent") {
  const auto said = [](const char* s) { return std::string((dimwise::error() << s).what()); };
  CHECK(said("a\x1b[31mb\x7f") == "a\\x1b[31mb\\x7f");
  CHECK(said("a\xe2\x80\xae"
             "b\xe2\x81\xa6"
             "c\xd8\x9c\xe2\x80\x8f") == "a\\u202eb\\u2066c\\u061c\\u200f");
  CHECK(said("a\xc2\x9b"
             "b\xff\xe2\x80") == "a\\u009bb\\xff\\xe2\\x80");
  CHECK(said("−∞ … é 日 😀\nnext\tline") == "−∞ … é 日 😀\nnext\tline");
}

TEST_CASE("errors: missing memory says how much was asked for, and for what") {
  const dimwise::allocation_error few(1000, "a buffer");
  CHECK(std::string(few.what()) == "out of memory: 1000 bytes for a buffer cannot be allocated");
  CHECK(few.bytes() == 1000);
  static_assert(std::is_base_of_v<std::bad_alloc, dimwise::allocation_error>);
  static_assert(std::is_nothrow_copy_constructible_v<dimwise::allocation_error>);
}
