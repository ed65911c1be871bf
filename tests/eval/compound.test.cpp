// tests/eval/compound.test.cpp -- compound assignment: the values of `x = x + y`, in x's own memory, all or nothing.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

namespace {

using namespace dims;
using namespace dimwise;
using namespace dimwise_test;

template <class X, class Y>
concept can_add = requires(X x, Y y) { x += y; };
static_assert(can_add<tensor<float, seq, width>&, tensor<float, width>> && can_add<tensor<float, seq>&, float> &&
              can_add<tensor<float, seq>&, tensor<int, seq>>);
static_assert(can_add<tensor<double, seq>&, tensor<float, seq>> && can_add<tensor<int, seq>&, int> &&
              can_add<tensor_view<float, seq>, float>);
static_assert(!can_add<tensor<float, seq>&, tensor<float, seq, width>> &&
              !can_add<tensor<float, seq>&, tensor<float, key>>);  // x is never broadcast
static_assert(!can_add<tensor<float, seq>&, tensor<double, seq>> && !can_add<tensor<int, seq>&, float> &&
              !can_add<tensor<int, seq>&, tensor<float, seq>>);
static_assert(!can_add<const tensor<float, seq>&, float> && !can_add<tensor_view<const float, seq>, float>);
static_assert(!can_add<tensor<float, seq>&, tensor<float, seq, rotated<d_k, seq>>>);  // no mark is dropped
static_assert(!can_add<tensor<id<vocab>, seq>&, int> && !can_add<tensor<bool, seq>&, tensor<bool, seq>>);

template <class T, class... D>
std::vector<T> elements(const tensor<T, D...>& x) {
  return {x.values().begin(), x.values().end()};
}

}  // namespace

TEST_CASE("compound: the values of the operator, in the same memory") {
  tensor<float, seq, width> x{{1, 2, 3}, {4, 5, 6}};
  const float* const memory = x.values().data();
  const tensor<float, width> row{10, 20, 30};
  const tensor<float, seq> column{2, 4};
  x += row;
  CHECK(elements(x) == std::vector<float>{11, 22, 33, 14, 25, 36});
  x -= 1;
  x *= column;
  CHECK(elements(x) == std::vector<float>{20, 42, 64, 52, 96, 140});
  x /= 2.0;
  CHECK(elements(x) == std::vector<float>{10, 21, 32, 26, 48, 70});
  CHECK(x.values().data() == memory);
  (x += permute<width, seq>(x)) *= 2;  // the expression holds x, which takes memory of its own
  CHECK(elements(x) == std::vector<float>{40, 84, 128, 104, 192, 280});
  const float* const second = x.values().data();
  const auto& same = x;
  x -= same;
  CHECK(elements(x) == std::vector<float>(6, 0));
  x += row * 0.5F;
  CHECK(elements(x) == std::vector<float>{5, 10, 15, 5, 10, 15});
  CHECK(x.values().data() == second);

  tensor<int, seq> n{7, -8};
  n *= 3;
  n -= tensor<int, seq>{1, 1};
  CHECK(elements(n) == std::vector<int>{20, -25});
  tensor<double> total({0});
  total += sum<seq>(column);
  CHECK(static_cast<double>(total) == 6);
}

TEST_CASE("compound: what shares x's memory keeps its values") {
  tensor<float, seq> x{1, 2, 3};
  const tensor<float, seq> before = x;
  const auto held = x * 10;
  x += before;
  CHECK(elements(x) == std::vector<float>{2, 4, 6});
  CHECK(elements(before) == std::vector<float>{1, 2, 3});
  CHECK(elements(evaluate(held)) == std::vector<float>{10, 20, 30});

  // A view of x's own memory, the other way round.
  tensor<float, seq, key> square{{1, 2}, {3, 4}};
  float* const p = square.data();
  const tensor_view<const float, seq, key> transposed(p, strides{1, 2}, seq{2}, key{2});
  square += transposed;
  CHECK(elements(square) == std::vector<float>{2, 5, 5, 8});
  CHECK(square.values().data() == p);
}

TEST_CASE("compound: what is masked stays masked") {
  constexpr float hidden = -std::numeric_limits<float>::infinity();
  tensor<float, seq, key, masked_for<key>> s = masked(tensor<float, seq, key>{{1, 2}, {3, 4}}, causal<seq, key>{});
  s *= -1.0F;
  CHECK(elements(s) == std::vector<float>{-1, hidden, -3, -4});
  s += s;
  CHECK(elements(s) == std::vector<float>{-2, hidden, -6, -8});
  s -= tensor<float, key>{1, hidden};
  CHECK(elements(s)[1] == hidden);
  s /= tensor<float, seq>{0.5F, 2};
  CHECK(elements(s)[0] == -6);
}

TEST_CASE("compound: a view changes the memory that it shows, and no other") {
  std::vector<float> memory{1, 2, 3, 4, 5, 6};
  tensor_view<float, seq> odd(memory.data(), strides{2}, seq{3});
  odd += tensor<float, seq>{10, 20, 30};
  odd *= 2;
  CHECK(memory == std::vector<float>{22, 2, 46, 4, 70, 6});
  tensor_view<float, seq> whole(memory.data(), seq{6});
  whole.within(4, seq{2}) -= 6;
  CHECK(memory == std::vector<float>{22, 2, 46, 4, 64, 0});
}

TEST_CASE("compound: a throw leaves x as it was") {
  tensor<float, seq> x{1, 2, 3};
  CHECK(thrown<extent_error>([&] { x += tensor<float, seq>{1, 2}; }) ==
        "+: dimension seq has extent 3 in one operand and 2 in another (R15)");
  const tensor<float, vocab> table{1, 2};
  const tensor<id<vocab>, seq> ids(std::vector<int>{0, 1, 2});
  CHECK_THROWS_AS(x *= gather<vocab>(table, ids), index_error);
  CHECK_THROWS_AS(x += map([](float) -> float { throw extent_error(); }, x), extent_error);
  CHECK(elements(x) == std::vector<float>{1, 2, 3});
}
