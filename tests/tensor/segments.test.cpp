// tests/tensor/segments.test.cpp -- the lengths of documents: every type of number, and those that are refused.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <list>
#include <span>
#include <vector>

namespace {

using namespace dimwise_test;
using dimwise::extent_error;

struct packed_seq : dimwise::packed_dim<> {};
struct packed_key : dimwise::prime<packed_seq> {};
struct nine : dimwise::packed_dim<9> {};

template <class D>
std::vector<std::size_t> lengths(const D& d) {
  return {d.documents().begin(), d.documents().end()};
}
constexpr std::size_t most = static_cast<std::size_t>(-1) / 2;

}  // namespace

TEST_CASE("segments: lengths of every type of number") {
  const std::vector<std::size_t> expected{3, 4, 2};
  const short some = 3;
  const std::uint32_t more = 4;
  CHECK(lengths(packed_seq{{3, 4, 2}}) == expected);
  CHECK(lengths(packed_seq{{std::size_t{3}, std::size_t{4}, std::size_t{2}}}) == expected);
  CHECK(lengths(packed_seq{{std::int64_t{3}, std::int64_t{4}, std::int64_t{2}}}) == expected);
  CHECK(lengths(packed_seq{{some, short{4}, short{2}}}) == expected);
  CHECK(lengths(packed_seq{{3U, more, 2U}}) == expected);
  CHECK(lengths(packed_key{{3, 4, 2}}) == expected);
  CHECK(lengths(nine{{3, 4, 2}}) == expected);
  CHECK(lengths(packed_seq{std::vector<int>{3, 4, 2}}) == expected);
  CHECK(lengths(packed_seq{std::list<unsigned char>{3, 4, 2}}) == expected);
  CHECK(lengths(packed_seq{std::span<const std::size_t>(expected)}) == expected);
  CHECK(packed_seq{{3, 0, 2}}.extent() == 5);
  CHECK(packed_seq{std::vector<int>{}}.extent() == 0);
  CHECK(packed_seq{std::vector<int>{}}.documents().known());
  CHECK(packed_seq{{7}}.extent() == 7);
  CHECK_FALSE(packed_seq{}.documents().known());
}

TEST_CASE("segments: negative lengths are refused, and so are lengths whose sum is beyond every extent") {
  const std::string negative = "segments: the length of document 1 is -1, lengths of 0 or more are expected (R15, R19)";
  CHECK(thrown<extent_error>([] { (void)packed_seq{{3, -1, 2}}; }) == negative);
  const long minus = -1;
  CHECK(thrown<extent_error>([&] { (void)packed_seq{{3L, minus, 2L}}; }) == negative);
  CHECK(thrown<extent_error>([] { (void)packed_key{{3, -1, 2}}; }) == negative);
  CHECK(thrown<extent_error>([] { (void)packed_seq{std::vector<signed char>{3, -1}}; }) == negative);
  CHECK(thrown<extent_error>([] { (void)dimwise::segments(std::vector<std::int64_t>{3, -1}); }) == negative);
  CHECK(thrown<extent_error>([] {
    (void)packed_seq{std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min()}};
  }) == "segments: the length of document 0 is -9223372036854775808, lengths of 0 or more are expected (R15, R19)");
  CHECK(thrown<extent_error>([] { (void)packed_seq{std::vector<std::size_t>{most, 1, 2}}; }) ==
        "segments: the length of document 1 is 1 and the documents before it hold 9223372036854775807 positions, a sum "
        "below 2^63 is expected (R15, R19)");
  CHECK(thrown<extent_error>([] { (void)packed_seq{{most + 1, most + 1, std::size_t{4}}}; }) ==
        "segments: the length of document 0 is 9223372036854775808 and the documents before it hold 0 positions, a sum "
        "below 2^63 is expected (R15, R19)");
  CHECK(thrown<extent_error>([] { (void)nine{{3, 4}}; }) == "extent 7 was given for a dimension of extent 9 (R15)");
  CHECK(packed_seq{std::vector<std::size_t>{most}}.extent() == most);
  CHECK(packed_seq{std::vector<std::size_t>{most, 0}}.documents().size() == 2);
}

TEST_CASE("segments: lengths that are no whole numbers are no lengths") {
  static_assert(!std::is_constructible_v<packed_seq, std::vector<double>>);
  static_assert(!std::is_constructible_v<dimwise::segments, std::vector<float>>);
}
