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
