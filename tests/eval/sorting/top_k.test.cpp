// tests/eval/sorting/top_k.test.cpp -- the largest elements in falling order, and their ids.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::tensor;
using dimwise::top_k;

struct best : dimwise::choice_dim<> {};

}  // namespace

TEST_CASE("top_k: against a full sort, every number of the largest, every place of the dimension") {
  const auto x = drawn<tensor<float, batch, vocab, seq>>(1, batch{2}, vocab{9}, seq{3});
  const auto sorted = [&](auto b, auto s) {
    std::vector<std::size_t> order(9);
    for (std::size_t i = 0; i < 9; ++i) { order[i] = i; }
    std::sort(order.begin(), order.end(), [&](auto i, auto j) {
      return el(x, b, i, s) != el(x, b, j, s) ? el(x, b, i, s) > el(x, b, j, s) : i < j;
    });
    return order;
  };
  for (const std::size_t n : counts{0, 1, 4, 9}) {
    const auto [values, ids] = top_k<vocab, best>(x, best{n});
    const auto& places = ids;
    CHECK(differences(values, {2, n, 3}, 0, [&](auto b, auto i, auto s) { return el(x, b, sorted(b, s)[i], s); }) ==
          "");
    CHECK(differences(places, {2, n, 3}, 0, [&](auto b, auto i, auto s) { return sorted(b, s)[i]; }) == "");
    const auto view = top_k<vocab, best>(scattered(x).view(), best{n});
    CHECK(differ(view.values, values) == "");
    CHECK(differ(tensor<float, best, seq, batch>(dimwise::gather<vocab>(x, places)),
                 tensor<float, best, seq, batch>(values)) == "");
  }
}

TEST_CASE("top_k: the first of equals first, NaN largest, -inf last") {
  const tensor<float, vocab> x({1, not_a_number, 3, 3, -infinite, infinite}, vocab{6});
  const auto all = top_k<vocab, best>(x, best{6});
  const std::size_t expected[] = {1, 5, 2, 3, 0, 4};
  CHECK(differences(all.ids, {6}, 0, [&](auto i) { return expected[i]; }) == "");
}

TEST_CASE("top_k: more than there are throws") {
  const tensor<float, vocab> x(vocab{2});
  CHECK(thrown<dimwise::extent_error>([&] { (void)top_k<vocab, best>(x, best{3}); }) ==
        "top_k: the 3 largest were asked of dimension vocab of extent 2 (R18)");
}

TEST_CASE("top_k: a dimension may be called as it was, fewer of it, and its ids reorder others") {
  const auto x = drawn<tensor<float, batch, vocab>>(2, batch{2}, vocab{6});
  const auto payload = drawn<tensor<float, vocab, batch, d_k>>(3, batch{2}, vocab{6});
  const auto renamed = top_k<vocab, best>(x, best{4});
  const auto [values, ids] = top_k<vocab, vocab>(x, vocab{4});
  const auto& order = ids;
  const auto& largest = values;
  CHECK(differences(order, {2, 4}, 0, [&](auto b, auto i) { return el(renamed.ids, b, i).value; }) == "");
  CHECK(differences(largest, {2, 4}, 0, [&](auto b, auto i) { return el(renamed.values, b, i); }) == "");
  const tensor<float, batch, vocab, d_k> sorted = dimwise::gather<vocab>(payload, order);
  CHECK(differences(sorted, {2, 4, 4}, 0,
                    [&](auto b, auto i, auto d) { return el(payload, el(order, b, i).value, b, d); }) == "");
}
