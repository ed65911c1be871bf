// tests/expr/elements/choose.test.cpp -- where, max, min, clamp, pow: by name, by the type of what they take, of
// special values.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace choose_test {
namespace {

using namespace dims;
using namespace dimwise_test;
using namespace dimwise;

template <class T>
using of = tensor<T, batch, seq>;
template <class M, class A, class B>
concept chooses = requires(const M& m, const A& a, const B& b) { where(m, a, b).extents(); };
template <class A, class B>
concept bounds =
    requires(const A& a, const B& b) { max(a, b).extents(), min(a, b).extents(), clamp(a, b, b).extents(); };
template <class A, class B>
concept raises = requires(const A& a, const B& b) { pow(a, b).extents(); };
template <class X>
using element = typename X::value_type;

static_assert(chooses<of<bool>, of<float>, of<float>> && chooses<of<bool>, float, of<double>> &&
              chooses<of<bool>, of<int>, float> && chooses<of<bool>, float, float>);
static_assert(chooses<padding_mask<seq, tensor<int, batch>>, of<float>, int> &&
              chooses<given_mask<of<bool>>, of<float>, int>);
static_assert(chooses<of<bool>, of<id<vocab>>, id<vocab>> && chooses<of<bool>, of<bool>, bool> &&
              chooses<of<bool>, of<bfloat16>, of<bfloat16>>);
static_assert(!chooses<of<float>, of<float>, float> && !chooses<of<int>, of<float>, float> &&
              !chooses<block_mask<of<bool>>, of<float>, float>);
static_assert(!chooses<of<bool>, of<id<vocab>>, of<id<heads>>> && !chooses<of<bool>, of<id<vocab>>, int> &&
              !chooses<of<bool>, of<bool>, of<float>> && !chooses<of<bool>, of<bfloat16>, of<float>>);
static_assert(!chooses<of<bool>, tensor<float, key>, float> && !chooses<causal<seq, key>, float, float> &&
              chooses<causal<four, four_keys>, float, float>);
// The types in which both meet.
static_assert(std::is_same_v<element<decltype(where(of<bool>(), of<float>(), 1))>, float> &&
              std::is_same_v<element<decltype(where(of<bool>(), 1, of<double>()))>, double>);
static_assert(std::is_same_v<element<decltype(where(of<bool>(), of<int>(), 0.5F))>, float> &&
              std::is_same_v<element<decltype(where(of<bool>(), of<int>(), 1))>, int>);
static_assert(
    std::is_same_v<element<decltype(where(of<bool>(), of<std::int16_t>(), of<std::int64_t>()))>, std::int64_t> &&
    std::is_same_v<element<decltype(where(of<bool>(), 1, 2.0))>, double>);
static_assert(std::is_same_v<element<decltype(clamp(of<int>(), 0, 9))>, int> &&
              std::is_same_v<element<decltype(clamp(of<int>(), 0, 9.5F))>, float>);
static_assert(std::is_same_v<element<decltype(clamp(of<float>(), 0, 9.5))>, float> &&
              std::is_same_v<element<decltype(max(of<int>(), 0))>, int>);
static_assert(std::is_same_v<element<decltype(pow(of<float>(), 2))>, float> &&
              std::is_same_v<element<decltype(pow(2.0, of<int>()))>, double>);

static_assert(bounds<of<float>, int> && bounds<of<int>, of<int>> && bounds<of<float>, of<double>> &&
              bounds<of<std::int64_t>, int>);
static_assert(!bounds<of<bool>, of<bool>> && !bounds<of<id<vocab>>, of<id<vocab>>> && !bounds<of<bfloat16>, float> &&
              !bounds<tensor<float, seq>, tensor<float, key>>);
static_assert(raises<of<float>, int> && raises<float, of<float>> && raises<of<int>, float> &&
              raises<of<int>, of<double>>);
static_assert(!raises<of<int>, int> && !raises<of<int>, of<int>> && !raises<of<bool>, float> &&
              !raises<of<id<vocab>>, float>);

// Marks: those of what is chosen; weights become weighted; what is masked is refused.
using S = tensor<float, seq, key, score<d_k>>;
using W = tensor<float, seq, key, normalised<key>>;
static_assert(std::is_same_v<dimwise::detail::marks_t<decltype(where(tensor<bool, seq, key>(), S(), 0))::shape_type>,
                             dimwise::detail::list<score<d_k>>>);
static_assert(std::is_same_v<dimwise::detail::marks_t<decltype(where(causal<seq, key>{}, W(), 0))::shape_type>,
                             dimwise::detail::list<weighted<key>>>);
static_assert(
    std::is_same_v<dimwise::detail::marks_t<decltype(max(S(), 0))::shape_type>, dimwise::detail::list<score<d_k>>>);
static_assert(std::is_same_v<dimwise::detail::marks_t<decltype(S() > 0)::shape_type>, dimwise::detail::list<>>);
using hidden = tensor<float, seq, key, masked_for<key>>;
static_assert(!chooses<tensor<bool, seq, key>, hidden, float> && !bounds<hidden, float> && !raises<hidden, float>);

}  // namespace

TEST_CASE("where: by a tensor of bool, in any order of memory") {
  for (const std::size_t s : counts{0, 1, 3, 40}) {
    const auto m = drawn<tensor<bool, d_k, seq>>(1, seq{s});
    const auto a = drawn<tensor<float, batch, seq, d_k>>(2, batch{2}, seq{s});
    const auto b = drawn<tensor<float, d_k, batch, seq>>(3, batch{2}, seq{s});
    const auto row = drawn<tensor<float, d_k>>(4);
    const scattered apart(m);
    CHECK(agrees(where(m, a, b), {2, s, 4}, 0,
                 [&](auto n, auto i, auto d) { return el(m, d, i) ? el(a, n, i, d) : el(b, d, n, i); }) == "");
    CHECK(agrees(where(apart.view(), row, a), {2, s, 4}, 0,
                 [&](auto n, auto i, auto d) { return el(m, d, i) ? el(row, d) : el(a, n, i, d); }) == "");
    CHECK(agrees(where(m, 1, a), {2, s, 4}, 0,
                 [&](auto n, auto i, auto d) { return el(m, d, i) ? 1.0F : el(a, n, i, d); }) == "");
    CHECK(agrees(where(m, row, 0.5F), {4, s}, 0, [&](auto d, auto i) { return el(m, d, i) ? el(row, d) : 0.5F; }) ==
          "");
    CHECK(agrees(where(m, 2.0F, -1.0F), {4, s}, 0, [&](auto d, auto i) { return el(m, d, i) ? 2.0F : -1.0F; }) == "");
    CHECK(agrees(where(a > 0, a, 0.01F * a), {2, s, 4}, 2, [&](auto n, auto i, auto d) {
      return el(a, n, i, d) > 0 ? el(a, n, i, d) : double{0.01F} * el(a, n, i, d);
    }) == "");
  }
}

TEST_CASE("where: by masks, whose extents come from what is chosen") {
  const auto s = drawn<tensor<float, heads, seq, key>>(5, seq{4}, key{4});
  const tensor<int, batch> lengths({1, 3}, batch{2});
  const auto x = drawn<tensor<float, batch, seq, d_k>>(6, batch{2}, seq{4});
  const auto m = drawn<tensor<bool, seq, key>>(7, seq{4}, key{4});
  CHECK(agrees(where(causal<seq, key>{}, s, 7), {3, 4, 4}, 0,
               [&](auto h, auto i, auto j) { return j <= i ? el(s, h, i, j) : 7.0F; }) == "");
  CHECK(agrees(where((!causal<seq, key>{}) & allow(m), s, 7), {3, 4, 4}, 0,
               [&](auto h, auto i, auto j) { return j > i && el(m, i, j) ? el(s, h, i, j) : 7.0F; }) == "");
  CHECK(agrees(where(padding<seq>(lengths), x, 0), {2, 4, 4}, 0,
               [&](auto b, auto i, auto d) { return i < (b == 0 ? 1U : 3U) ? el(x, b, i, d) : 0.0F; }) == "");
  CHECK(agrees(where(allow_of(block(m)), 1, s), {3, 4, 4}, 0,
               [&](auto h, auto i, auto j) { return el(m, i, j) ? el(s, h, i, j) : 1.0F; }) == "");
  // Positions as everywhere: from the origins of what is chosen.
  const auto late = drawn<tensor<float, seq, key>>(8, starting_at(seq{2}, 2), key{4});
  CHECK(agrees(where(causal<seq, key>{}, late, 0), {2, 4}, 0,
               [&](auto i, auto j) { return j <= i + 2 ? el(late, i, j) : 0.0F; }) == "");
  const tensor<float, seq, key> wide(seq{2}, key{4});
  CHECK(thrown<origin_error>([&] { (void)where(causal<seq, key>{}, wide, 0); }) ==
        "where: seq has extent 2 and key has extent 4; say where they begin with starting_at (R7)");
  CHECK(thrown<extent_error>([&] { (void)where(allow(m), wide, 0); }) ==
        "where: dimension seq has extent 2 in one operand and 4 in another (R15)");
  const tensor<int, batch> too_long({1, 9}, batch{2});
  CHECK(thrown<extent_error>([&] { (void)evaluate(where(padding<seq>(too_long), x, 0)); }) ==
        "padding: length 9 is outside dimension seq of extent 4 (R7)");
}

TEST_CASE("where: what is not chosen has no effect") {
  struct odd : position_dim<6> {};
  const tensor<float, odd> x({not_a_number, infinite, -infinite, not_a_number, 2.0F, -0.0F});
  const tensor<bool, odd> m({false, false, false, true, true, true});
  CHECK(agrees(where(m, x, 1), {6}, 0, [&](auto i) { return i < 3 ? 1.0F : el(x, i); }) == "");
  CHECK(agrees(where(x == x, x, 0), {6}, 0, [&](auto i) { return i == 0 || i == 3 ? 0.0F : el(x, i); }) == "");
  CHECK(std::signbit(el(tensor(where(m, x, 0)), 5)));
}

TEST_CASE("where: ids, bools, whole and stored numbers are chosen as they are") {
  const auto m = drawn<tensor<bool, seq>>(9, seq{5});
  const auto x = drawn_ids<tensor<id<vocab>, batch, seq>>(10, 7, batch{2}, seq{5});
  CHECK(agrees(where(m, x, id<vocab>(3)), {2, 5}, 0,
               [&](auto b, auto i) { return el(m, i) ? el(x, b, i).value : 3U; }) == "");
  CHECK(agrees(where(m, false, m), {5}, 0, [&](auto) { return false; }) == "");
  const tensor<std::int64_t, seq> n({1, 2, 3, 4, (std::int64_t{1} << 60) + 1}, seq{5});
  CHECK(el(tensor(where(!allow(m), n, 0)), 4) == (el(m, 4) ? 0 : (std::int64_t{1} << 60) + 1));
  const tensor<bfloat16, seq> few(seq{5});
  CHECK(evaluate(where(m, few, few)).size() == 5);
}

TEST_CASE("max, min, clamp: by name and by number") {
  const auto x = drawn<tensor<float, batch, seq, d_k>>(11, batch{2}, seq{9});
  const auto y = drawn<tensor<float, d_k, seq>>(12, seq{9});
  CHECK(agrees(max(x, 0), {2, 9, 4}, 0, [&](auto b, auto i, auto d) { return std::max(el(x, b, i, d), 0.0F); }) == "");
  CHECK(agrees(min(0.25, x), {2, 9, 4}, 0, [&](auto b, auto i, auto d) { return std::min(el(x, b, i, d), 0.25F); }) ==
        "");
  CHECK(agrees(max(y, x), {2, 9, 4}, 0,
               [&](auto b, auto i, auto d) { return std::max(el(x, b, i, d), el(y, d, i)); }) == "");
  CHECK(agrees(clamp(x, -0.5F, 0.25F), {2, 9, 4}, 0,
               [&](auto b, auto i, auto d) { return std::clamp(el(x, b, i, d), -0.5F, 0.25F); }) == "");
  CHECK(agrees(clamp(x, -1, y), {2, 9, 4}, 0,
               [&](auto b, auto i, auto d) { return std::min(el(x, b, i, d), el(y, d, i)); }) == "");
  const tensor<int, pair> n({-3, 9});
  CHECK(agrees(clamp(n, 0, 5), {2}, 0, [&](auto i) { return i == 0 ? 0 : 5; }) == "");
  // Over a dimension the names reduce, as before.
  CHECK(agrees(max<d_k>(x), {2, 9}, 0, [&](auto b, auto i) {
    return std::max({el(x, b, i, 0), el(x, b, i, 1), el(x, b, i, 2), el(x, b, i, 3)});
  }) == "");
}

TEST_CASE("max, min, clamp: NaN wins, bounds that cross give the upper one") {
  struct odd : position_dim<6> {};
  struct other : prime<odd> {};
  const tensor<float, odd> x({not_a_number, infinite, -infinite, 0.0F, -2.0F, 1.0F});
  const tensor<float, odd, other> a = broadcast<other>(x, other{});
  const tensor<float, odd, other> b = broadcast<odd>(rename<odd, other>(x), odd{});
  const auto nan = [](float p, float q) { return std::isnan(p) || std::isnan(q); };
  CHECK(agrees(max(a, b), {6, 6}, 0, [&](auto i, auto j) {
    return nan(el(x, i), el(x, j)) ? not_a_number : std::max(el(x, i), el(x, j));
  }) == "");
  CHECK(agrees(min(a, b), {6, 6}, 0, [&](auto i, auto j) {
    return nan(el(x, i), el(x, j)) ? not_a_number : std::min(el(x, i), el(x, j));
  }) == "");
  CHECK(agrees(clamp(x, -1, 0.5F), {6}, 0,
               [&](auto i) { return std::isnan(el(x, i)) ? not_a_number : std::clamp(el(x, i), -1.0F, 0.5F); }) == "");
  CHECK(agrees(clamp(x, 3, 2), {6}, 0, [&](auto i) { return std::isnan(el(x, i)) ? not_a_number : 2.0F; }) == "");
  CHECK(agrees(clamp(x, not_a_number, 2), {6}, 0, [&](auto) { return not_a_number; }) == "");
}

TEST_CASE("pow: as std::pow, of tensors and numbers") {
  const auto x = drawn<tensor<float, batch, d_k>>(13, batch{5});
  const auto y = drawn<tensor<float, d_k>>(14);
  for (const float p : {0.0F, 1.0F, 2.0F, 3.0F, -1.0F, -2.0F, 7.0F}) {
    CHECK(agrees(pow(x, p), {5, 4}, 8, [&](auto b, auto d) { return std::pow(double{el(x, b, d)}, double{p}); }) == "");
  }
  CHECK(agrees(pow(abs(x), 0.5F), {5, 4}, 2,
               [&](auto b, auto d) { return std::sqrt(std::abs(double{el(x, b, d)})); }) == "");
  CHECK(agrees(pow(2, x), {5, 4}, 2, [&](auto b, auto d) { return std::exp2(double{el(x, b, d)}); }) == "");
  CHECK(agrees(pow(abs(x), y), {5, 4}, 4,
               [&](auto b, auto d) { return std::pow(std::abs(double{el(x, b, d)}), double{el(y, d)}); }) == "");
  struct odd : position_dim<6> {};
  const tensor<float, odd> z({not_a_number, infinite, -infinite, 0.0F, -0.0F, -8.0F});
  for (const float p : {0.0F, 1.0F, 2.0F, 3.0F, -1.0F, 0.5F}) {
    CHECK(agrees(pow(z, p), {6}, 1, [&](auto i) { return std::pow(el(z, i), p); }) == "");
  }
}

TEST_CASE("where, max, clamp: in words") {
  const tensor<float, seq> x(seq{3});
  CHECK(explain(where(x > 0, x, 0)).text().find("where of step 2, step 3, the number 0, element by element") !=
        std::string::npos);
  CHECK(explain(max(x, 0)).text().find("max of step 1, the number 0, element by element") != std::string::npos);
  CHECK(explain(clamp(x, -1, 1)).text().find("clamp of step 1, the number -1, the number 1, element by element") !=
        std::string::npos);
  CHECK(explain(where(padding<seq>(2), x, 0)).text().find("where of step 1, step 2, the number 0") !=
        std::string::npos);
}

}  // namespace choose_test
