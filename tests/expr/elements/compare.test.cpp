// tests/expr/elements/compare.test.cpp -- comparisons give tensors of bool, by name, by value.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <concepts>
#include <cstdint>

namespace {

using namespace dims;
using namespace dimwise_test;
using namespace dimwise;

template <class A, class B>
concept equated = requires(const A& a, const B& b) { (a == b).extents(), (a != b).extents(); };
template <class A, class B>
concept ordered =
    requires(const A& a, const B& b) { (a < b).extents(), (a <= b).extents(), (a > b).extents(), (a >= b).extents(); };
template <class T>
using of = tensor<T, batch, seq>;

// Numbers with numbers, ids with ids of the same dimension, bools with bools.
static_assert(ordered<of<float>, of<double>> && ordered<of<int>, of<float>> && ordered<of<float>, int> &&
              ordered<int, of<std::int64_t>>);
static_assert(equated<of<float>, of<int>> && equated<of<id<vocab>>, of<id<vocab>>> &&
              equated<of<id<vocab>>, id<vocab>> && equated<id<vocab>, of<id<vocab>>>);
static_assert(equated<of<bool>, of<bool>> && equated<of<bool>, bool>);
static_assert(!ordered<of<id<vocab>>, of<id<vocab>>> && !ordered<of<bool>, of<bool>>);
static_assert(!equated<of<id<vocab>>, of<id<heads>>> && !equated<of<id<vocab>>, of<int>> &&
              !equated<of<id<vocab>>, int> && !equated<of<bool>, of<float>> && !equated<of<bool>, int>);
static_assert(!equated<of<bfloat16>, of<float>> && !ordered<of<bfloat16>, of<bfloat16>> &&
              !equated<tensor<float, seq>, tensor<float, key>>);
// A comparison is not a condition, and tensors are not comparable in the sense of the standard library.
static_assert(!std::equality_comparable<of<float>> && !std::totally_ordered<of<float>>);
static_assert(!std::is_convertible_v<decltype(of<float>() == 1), bool> &&
              !std::is_constructible_v<bool, decltype(of<float>() == 1)>);
// Ids and dimensions still compare as they did.
static_assert(id<vocab>(1) == id<vocab>(1) && id<vocab>(1) != id<vocab>(2));

}  // namespace

TEST_CASE("comparisons: six of them, by name, in any order of memory") {
  for (const std::size_t s : counts{0, 1, 3, 40}) {
    const auto x = drawn<tensor<float, batch, seq, d_k>>(1, batch{2}, seq{s});
    const auto turned = drawn<tensor<float, d_k, batch, seq>>(2, batch{2}, seq{s});
    const auto row = drawn<tensor<float, d_k>>(3);
    const scattered apart(turned);
    CHECK(agrees(x < turned, {2, s, 4}, 0,
                 [&](auto b, auto i, auto d) { return el(x, b, i, d) < el(turned, d, b, i); }) == "");
    CHECK(agrees(x <= apart.view(), {2, s, 4}, 0,
                 [&](auto b, auto i, auto d) { return el(x, b, i, d) <= el(turned, d, b, i); }) == "");
    CHECK(agrees(row > x, {2, s, 4}, 0, [&](auto b, auto i, auto d) { return el(row, d) > el(x, b, i, d); }) == "");
    CHECK(agrees(x >= 0.25F, {2, s, 4}, 0, [&](auto b, auto i, auto d) { return el(x, b, i, d) >= 0.25F; }) == "");
    CHECK(agrees(x == x * 1.0F, {2, s, 4}, 0, [&](auto, auto, auto) { return true; }) == "");
    CHECK(agrees(0 != x, {2, s, 4}, 0, [&](auto b, auto i, auto d) { return el(x, b, i, d) != 0; }) == "");
  }
}

TEST_CASE("comparisons: NaN, infinities and zeros as the numbers themselves compare") {
  struct odd : position_dim<6> {};
  struct other : prime<odd> {};
  const tensor<float, odd> x({not_a_number, infinite, -infinite, 0.0F, -0.0F, 1.0F});
  const tensor<float, odd, other> a = broadcast<other>(x, other{});
  const tensor<float, odd, other> b = broadcast<odd>(rename<odd, other>(x), odd{});
  CHECK(agrees(a < b, {6, 6}, 0, [&](auto i, auto j) { return el(x, i) < el(x, j); }) == "");
  CHECK(agrees(a <= b, {6, 6}, 0, [&](auto i, auto j) { return el(x, i) <= el(x, j); }) == "");
  CHECK(agrees(a > b, {6, 6}, 0, [&](auto i, auto j) { return el(x, i) > el(x, j); }) == "");
  CHECK(agrees(a >= b, {6, 6}, 0, [&](auto i, auto j) { return el(x, i) >= el(x, j); }) == "");
  CHECK(agrees(a == b, {6, 6}, 0, [&](auto i, auto j) { return el(x, i) == el(x, j); }) == "");
  CHECK(agrees(a != b, {6, 6}, 0, [&](auto i, auto j) { return el(x, i) != el(x, j); }) == "");
}

TEST_CASE("comparisons: whole numbers compare by value, whatever their size and sign") {
  struct four_of : batch_dim<4> {};
  const tensor<std::size_t, four_of> sizes({0U, 1U, 5U, static_cast<std::size_t>(-1)});
  const tensor<int, four_of> lengths({-1, 1, 7, -1});
  CHECK(agrees(sizes > -1, {4}, 0, [](auto) { return true; }) == "");
  CHECK(agrees(lengths < sizes, {4}, 0, [](auto i) { return i != 1 && i != 2; }) == "");
  CHECK(agrees(sizes == lengths, {4}, 0, [](auto i) { return i == 1; }) == "");
  CHECK(agrees(lengths >= 0.5F, {4}, 0, [](auto i) { return i == 1 || i == 2; }) == "");
}

TEST_CASE("comparisons: ids of one dimension, and bools") {
  const auto x = drawn_ids<tensor<id<vocab>, batch, seq>>(4, 3, batch{2}, seq{5});
  const auto y = drawn_ids<tensor<id<vocab>, seq, batch>>(5, 3, batch{2}, seq{5});
  CHECK(agrees(x == y, {2, 5}, 0, [&](auto b, auto i) { return el(x, b, i).value == el(y, i, b).value; }) == "");
  CHECK(agrees(x != id<vocab>(1), {2, 5}, 0, [&](auto b, auto i) { return el(x, b, i).value != 1; }) == "");
  const tensor<bool, batch, seq> hit = x == y;
  CHECK(agrees(hit == (y == x), {2, 5}, 0, [&](auto, auto) { return true; }) == "");
  CHECK(agrees(hit == false, {2, 5}, 0, [&](auto b, auto i) { return !el(hit, b, i); }) == "");
  // The share of right answers.
  const tensor<float, batch> right = mean<seq>(indicator(allow(x == y)));
  CHECK(right.values()[0] ==
        doctest::Approx((el(hit, 0, 0) + el(hit, 0, 1) + el(hit, 0, 2) + el(hit, 0, 3) + el(hit, 0, 4)) / 5.0));
}

TEST_CASE("comparisons: a mask from a comparison") {
  const auto s = drawn<tensor<float, heads, seq, key>>(6, seq{3}, key{5});
  const auto distance = drawn<tensor<float, seq, key>>(7, seq{3}, key{5});
  const tensor<bool, seq, key> near = distance < 0.25F;
  const tensor<float, heads, seq, key, normalised<key>> a = softmax<key>(masked(s, allow(distance < 0.25F)));
  const tensor<float, heads, seq, key, normalised<key>> b = softmax<key>(masked(s, allow(near)));
  CHECK(differ(a, b) == "");
  // What the mask compares is computed in its own type, also under `reference`.
  CHECK(agrees(sum<key>(s, allow(distance < 0.25F)), {3, 3}, 8, [&](auto h, auto i) {
    return sum_of(5, [&](auto j) { return el(near, i, j) ? double{el(s, h, i, j)} : 0.0; });
  }) == "");
}

TEST_CASE("comparisons: extents that differ") {
  const tensor<float, seq> x(seq{3});
  const tensor<float, seq> y(seq{4});
  CHECK(thrown<extent_error>([&] { (void)(x < y); }) ==
        "<: dimension seq has extent 3 in one operand and 4 in another (R15)");
}

TEST_CASE("comparisons: in words") {
  const tensor<float, seq> x(seq{3});
  CHECK(explain(x < 0.5F).text().find("step 1 < the number 0.5, element by element") != std::string::npos);
}

TEST_CASE("numbers: an expression without dimensions is read as its number, a comparison of it as its truth") {
  const dimwise::tensor<float, seq> x({1, 2, 6}, seq{3});
  const float average = dimwise::mean<seq>(x);
  CHECK(average == 3);
  bool larger = false;
  if (dimwise::mean<seq>(x) > 2.0F) { larger = true; }
  CHECK(larger);
  if (dimwise::mean<seq>(x) == 1) { larger = false; }
  CHECK(larger);
  const dimwise::tensor<float> loss{dimwise::mean<seq>(x)};
  CHECK((loss > 2.0F ? 1 : 0) == 1);
  int steps = 0;
  if (loss > 2.0F && loss < 4.0F && steps == 0) { ++steps; }
  if (loss > 4.0F || dimwise::mean<seq>(x) == 3) { ++steps; }
  if (steps == 2 && loss > 2.0F) { ++steps; }
  CHECK(steps == 3);
  CHECK(static_cast<double>(2.0F * loss + 1.0F) == 7);
  const bool ended = loss < 4.0F;
  CHECK(ended);
  if (!(loss < 3.0F) && !(loss > 3.0F)) { ++steps; }
  CHECK(steps == 4);
  double total = 1;
  total += loss;
  total -= dimwise::mean<seq>(x) * 0.5F;
  CHECK(total == 2.5);
  static_assert(std::is_convertible_v<decltype(loss > 2.0F), bool>);
  static_assert(!std::is_convertible_v<decltype(x * 2.0F), float> &&
                !std::is_constructible_v<double, decltype(x * 2)> && !std::is_convertible_v<decltype(x * 2.0F), bool> &&
                !std::is_convertible_v<decltype(x), std::size_t>);
}
