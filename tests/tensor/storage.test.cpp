// tests/tensor/storage.test.cpp -- an expression keeps its meaning, whatever happens to its operands afterwards.
//
// Each test runs on memory that is shared (run-time extents) and on memory inside the object (small static extents).
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::id;
using dimwise::tensor;

struct shared {
  using type = tensor<float, seq, pair>;
  using view = dimwise::tensor_view<float, seq, pair>;
  using row = id<seq>;
  static type make() { return type({1, 2, 3, 4, 5, 6}, seq{3}); }
};
struct in_place {
  struct three : dimwise::position_dim<3> {};
  using type = tensor<float, three, pair>;
  using view = dimwise::tensor_view<float, three, pair>;
  using row = id<three>;
  static type make() { return type({1, 2, 3, 4, 5, 6}); }
};

// The elements times `factor`, as they were made.
template <class X>
std::string still(const X& x, double factor = 1) {
  return differences(x, {3, 2}, 0, [=](auto s, auto i) { return factor * static_cast<double>(s * 2 + i + 1); });
}
template <class Case>
auto doubled() {
  const auto local = Case::make();
  return local * 2 + local * 0;
}
template <class Case>
auto nested() {
  auto inner = doubled<Case>();
  const auto outer = inner * 0.5F;
  auto written = Case::make();
  const auto result = outer + written;
  written.fill(100);
  return result;
}

}  // namespace

TEST_CASE_TEMPLATE("storage: a copy is independent, whichever is written", Case, shared, in_place) {
  auto x = Case::make();
  auto y = x;
  y.fill(0);
  CHECK(still(x) == "");
  y = x;
  x.data()[0] = 9;
  CHECK(still(y) == "");
  auto z = y;
  z.assign(std::vector<float>(6, 3.0F));
  CHECK(still(y) == "");
  auto moved = std::move(y);
  CHECK(still(moved) == "");
  y = moved;
  moved.fill(1);
  CHECK(still(y) == "");
}

TEST_CASE_TEMPLATE("storage: an expression keeps its meaning when its operand is written, in every way", Case, shared,
                   in_place) {
  using X = typename Case::type;
  auto x = Case::make();
  const auto e = x * 2;
  SUBCASE("fill") { x.fill(0); }
  SUBCASE("set") { x.set(100, typename Case::row(1), id<pair>(0)); }
  SUBCASE("assign values") { x.assign(std::vector<float>(6)); }
  SUBCASE("assign an expression") { x = x + 1; }
  SUBCASE("assign itself through the expression") { x = e; }
  SUBCASE("assign another tensor") { x = X(); }
  SUBCASE("data()") { x.data()[2] = 77; }
  SUBCASE("a view") {
    typename Case::view view(x);
    view = view * 3;
  }
  SUBCASE("move from it") {
    X y = std::move(x);
    y.fill(0);
  }
  CHECK(still(X(e), 2) == "");
}

TEST_CASE_TEMPLATE("storage: a pointer that was handed out earlier does not reach expressions and copies formed later",
                   Case, shared, in_place) {
  using X = typename Case::type;
  auto x = Case::make();
  float* const stale = x.data();
  const auto e = x * 2;
  const X copy = x;
  stale[0] = 50;
  CHECK(still(X(e), 2) == "");
  CHECK(still(copy) == "");
  CHECK(el(x, 0, 0) == 50);  // the tensor itself is what the pointer writes
  stale[0] = 1;
  x.seal();
  const auto g = x * 3;
  x.fill(0);
  CHECK(still(X(g), 3) == "");
}

TEST_CASE_TEMPLATE("storage: operands that were locals of functions that have returned", Case, shared, in_place) {
  using X = typename Case::type;
  CHECK(still(X(doubled<Case>()), 2) == "");
  std::vector<float> noise(1000, 5.0F);  // where freed memory might be reused
  CHECK(noise.back() == 5);
  CHECK(still(X(nested<Case>()), 2) == "");
}

TEST_CASE("storage: masks, gathers and joins keep their operands, too") {
  auto x = drawn<tensor<float, seq, key>>(1, seq{2}, key{3});
  tensor<bool, seq, key> given({true, false, true, true, true, false}, seq{2}, key{3});
  tensor<int, batch> lengths({3, 1}, batch{2});
  tensor<id<key>, seq> ids({id<key>(2), id<key>(0)}, seq{2});
  const auto p = dimwise::softmax<key>(dimwise::masked(x, dimwise::allow(given) & dimwise::padding<key>(lengths)));
  const auto g = dimwise::gather<key>(x, ids);
  const auto c = dimwise::concat<seq>(x, x);
  const auto s = dimwise::stack<pair>(x, x);
  const auto before =
      std::tuple(dimwise::evaluate(p), dimwise::evaluate(g), dimwise::evaluate(c), dimwise::evaluate(s));
  x.fill(9);
  given.fill(false);
  lengths.fill(0);
  ids.fill(id<key>(1));
  const auto same = [](const auto& a, const auto& b) {
    return std::equal(a.values().begin(), a.values().end(), b.values().begin(), b.values().end());
  };
  CHECK(same(dimwise::evaluate(p), std::get<0>(before)));
  CHECK(same(dimwise::evaluate(g), std::get<1>(before)));
  CHECK(same(dimwise::evaluate(c), std::get<2>(before)));
  CHECK(same(dimwise::evaluate(s), std::get<3>(before)));
}

TEST_CASE("storage: a tensor that was moved from takes a new value") {
  auto x = shared::make();
  const auto y = std::move(x);
  x = y;
  CHECK(still(x) == "");
  auto z = std::move(x);
  x = z * 2;
  CHECK(still(x, 2) == "");
}
