// tests/expr/rows/sort.test.cpp -- sort and argsort against std::stable_sort and NumPy's results.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::argsort;
using dimwise::descending;
using dimwise::gather;
using dimwise::id;
using dimwise::merged;
using dimwise::sort;
using dimwise::tensor;

// The places of n elements in their order; `of(i)` gives one.
template <class Of>
std::vector<std::size_t> order_of(std::size_t n, bool down, const Of& of) {
  std::vector<std::size_t> order(n);
  for (std::size_t i = 0; i < n; ++i) { order[i] = i; }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return down ? of(i) > of(j) : of(i) < of(j); });
  return order;
}

template <class T>
std::vector<T> sorted(const std::vector<T>& numbers) {
  const tensor<T, seq> x(numbers, seq{numbers.size()});
  const tensor<T, seq> y = sort<seq>(x);
  return {y.values().begin(), y.values().end()};
}
template <class Ids>
std::vector<std::size_t> numbers_of(const Ids& ids) {
  std::vector<std::size_t> numbers;
  for (const auto& i : ids.values()) { numbers.push_back(i.value); }
  return numbers;
}

}  // namespace

TEST_CASE_TEMPLATE("sort, argsort: against a stable sort, both orders, every place in memory", T, float, double, int) {
  for (const std::size_t n : counts{0, 1, 2, 9, 70}) {
    CAPTURE(n);
    tensor<T, batch, seq, d_k> x(batch{2}, seq{n});
    std::vector<T> numbers(x.size());  // with many that are equal
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = static_cast<T>(std::floor(10 * drawn_number(i, 1)));
    }
    x.assign(numbers);
    const auto order = [&](bool down, auto b, auto d) {
      return order_of(n, down, [&](std::size_t i) { return el(x, b, i, d); });
    };
    const auto value = [&](bool down) {
      return [&, down](auto b, auto s, auto d) { return el(x, b, order(down, b, d)[s], d); };
    };
    CHECK(differences(dimwise::evaluate(sort<seq>(x)), {2, n, 4}, 0, value(false)) == "");
    CHECK(differences(dimwise::evaluate(sort<seq>(x, descending{})), {2, n, 4}, 0, value(true)) == "");
    CHECK(differences(dimwise::evaluate(sort<seq>(scattered(x).view())), {2, n, 4}, 0, value(false)) == "");
    const tensor<T, d_k, seq, batch> turned = sort<seq>(x);
    CHECK(differences(turned, {4, n, 2}, 0, [&](auto d, auto s, auto b) { return value(false)(b, s, d); }) == "");
    const tensor<id<seq>, batch, seq, d_k> up = argsort<seq>(x);
    const tensor<id<seq>, batch, seq, d_k> down = argsort<seq>(scattered(x).view(), descending{});
    CHECK(differences(up, {2, n, 4}, 0, [&](auto b, auto s, auto d) { return order(false, b, d)[s]; }) == "");
    CHECK(differences(down, {2, n, 4}, 0, [&](auto b, auto s, auto d) { return order(true, b, d)[s]; }) == "");
    CHECK(differences(dimwise::evaluate(gather<seq>(x, up)), {2, n, 4}, 0, value(false)) == "");
  }
}

TEST_CASE("sort, argsort: known numbers, NaN, infinities, zeros of both signs") {
  // np.argsort(x, kind="stable"), np.sort(x)
  const tensor<float, seq> x({3, not_a_number, -1, infinite, 0, -0.0F, not_a_number, -infinite, 3}, seq{9});
  CHECK(numbers_of(dimwise::evaluate(argsort<seq>(x))) == std::vector<std::size_t>{7, 2, 4, 5, 0, 8, 3, 1, 6});
  const double up[] = {-infinite, -1, 0, 0, 3, 3, infinite, not_a_number, not_a_number};
  CHECK(agrees(sort<seq>(x), {9}, 0, [&](auto s) { return up[s]; }) == "");
  // torch.sort(x, stable=True, descending=True)
  const std::vector<std::size_t> down{1, 6, 3, 0, 8, 4, 5, 2, 7};
  CHECK(numbers_of(dimwise::evaluate(argsort<seq>(x, descending{}))) == down);
  // Zeros are equal: they keep their order, and their signs.
  const tensor<float, seq> zeros({0.0F, -0.0F}, seq{2});
  CHECK(numbers_of(dimwise::evaluate(argsort<seq>(zeros))) == std::vector<std::size_t>{0, 1});
  const tensor<float, seq> sorted_zeros = sort<seq>(zeros);
  CHECK(std::signbit(sorted_zeros.values()[1]));
}

TEST_CASE("sort: the ends of every type of elements") {
  using std::numeric_limits;
  const auto check = [](const auto& numbers) {
    auto expected = numbers;
    std::sort(expected.begin(), expected.end());
    CHECK(sorted(numbers) == expected);
  };
  check(std::vector<float>{numeric_limits<float>::max(), -numeric_limits<float>::denorm_min(), 1,
                           numeric_limits<float>::denorm_min(), numeric_limits<float>::lowest(), -1});
  check(std::vector<double>{numeric_limits<double>::max(), -numeric_limits<double>::denorm_min(), 1.0 + 0x1p-52, 1,
                            numeric_limits<double>::denorm_min(), numeric_limits<double>::lowest(), -1});
  constexpr std::int64_t large = std::int64_t{1} << 60;  // neighbours that a double does not tell apart
  check(std::vector<std::int64_t>{large + 1, large, -large, numeric_limits<std::int64_t>::min(), -large - 1, 0,
                                  numeric_limits<std::int64_t>::max(), -1});
  check(std::vector<std::uint64_t>{~std::uint64_t{0}, 0, std::uint64_t{1} << 63, 5});
  check(std::vector<std::int8_t>{5, -128, 127, -1});
}

TEST_CASE("sort, argsort: along a product of dimensions, whose ids are split") {
  struct beam : dimwise::batch_dim<> {};
  using both = merged<beam, vocab>;
  const auto x = drawn<tensor<float, beam, vocab, batch>>(3, beam{2}, vocab{3}, batch{2});
  const auto joined = dimwise::merge<beam, vocab>(x);
  const auto order = [&](auto b) { return order_of(6, true, [&](std::size_t i) { return el(x, i / 3, i % 3, b); }); };
  const tensor<id<both>, both, batch> ids = argsort<both>(joined, descending{});
  CHECK(differences(ids, {6, 2}, 0, [&](auto i, auto b) { return order(b)[i]; }) == "");
  const tensor<float, both, batch> values = sort<both>(joined, descending{});
  CHECK(differences(values, {6, 2}, 0, [&](auto i, auto b) { return el(x, order(b)[i] / 3, order(b)[i] % 3, b); }) ==
        "");
  const auto [beams, words] = dimwise::split_ids(ids, beam{2}, vocab{3});
  const tensor<id<vocab>, both, batch>& chosen = words;
  CHECK(differences(chosen, {6, 2}, 0, [&](auto i, auto b) { return order(b)[i] % 3; }) == "");
}

// The smallest set of alternatives whose probabilities sum to p (Holtzman et al. 2020).
TEST_CASE("sort, cumsum: what top-p sampling keeps") {
  struct rank : dimwise::position_dim<> {};
  const tensor<double, batch, vocab> p({0.1, 0.5, 0.15, 0.25, 0.25, 0.25, 0.25, 0.25}, batch{2}, vocab{4});
  const tensor<double, batch, rank> ranked = dimwise::relabel<vocab, rank>(sort<vocab>(p, descending{}));
  const tensor<double, batch, rank> before = dimwise::cumsum<rank>(ranked) - ranked;
  const tensor<int, batch> kept = dimwise::sum<rank>(dimwise::where(before < 0.7, 1, 0));
  CHECK(differences(kept, {2}, 0, [](auto b) { return b == 0 ? 2.0 : 3.0; }) == "");
}
