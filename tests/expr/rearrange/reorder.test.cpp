// tests/expr/rearrange/reorder.test.cpp -- roll and flip.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::flip;
using dimwise::merge;
using dimwise::merged;
using dimwise::roll;
using dimwise::softmax;
using dimwise::summed;
using dimwise::tensor;

std::size_t turned(std::size_t i, long long n, std::size_t extent) {
  const auto all = static_cast<long long>(extent);
  return static_cast<std::size_t>(((static_cast<long long>(i) - n) % all + all) % all);
}

}  // namespace

TEST_CASE("roll: element i is element i - n, n of any size and sign, wherever the dimension lies") {
  for (const std::size_t s : counts{0, 1, 2, 5}) {
    const auto x = drawn<tensor<float, batch, seq, d_k>>(1, batch{2}, seq{s});
    for (const long long n : {0LL, 1LL, -1LL, 2LL, 5LL, -7LL, 12LL, std::numeric_limits<long long>::max(),
                              std::numeric_limits<long long>::min()}) {
      const auto expected = [&](auto b, auto i, auto d) { return el(x, b, turned(i, n % 60, s), d); };
      const auto place = [&](auto b, auto i, auto d) {
        const auto all = static_cast<long long>(s);
        return el(x, b, turned(i, n % all, s), d);
      };
      if (n > -60 && n < 60) { CHECK(agrees(roll<seq>(x, n), {2, s, 4}, 0, expected) == ""); }
      CHECK(agrees(roll<seq>(x, n), {2, s, 4}, 0, place) == "");
      CHECK(agrees(roll<seq>(tensor<float, d_k, batch, seq>(x), n), {4, 2, s}, 0,
                   [&](auto d, auto b, auto i) { return place(b, i, d); }) == "");
      CHECK(agrees(roll<seq>(scattered(x).view(), n), {2, s, 4}, 0, place) == "");
    }
    CHECK(agrees(roll<seq>(x * 2, std::size_t{3}), {2, s, 4}, 1,
                 [&](auto b, auto i, auto d) { return 2.0 * el(x, b, turned(i, 3, s), d); }) == "");
  }
  const auto tokens = drawn_ids<tensor<dimwise::id<vocab>, seq>>(2, 9, seq{4});
  const tensor<dimwise::id<vocab>, seq> next = roll<seq>(tokens, -1);
  CHECK(differences(next, {4}, 0, [&](auto i) { return el(tokens, (i + 1) % 4).value; }) == "");
  const auto bits = drawn<tensor<bool, seq>>(3, seq{4});
  CHECK(differences(tensor<bool, seq>(roll<seq>(bits, 1)), {4}, 0, [&](auto i) { return el(bits, (i + 3) % 4); }) ==
        "");
}

TEST_CASE("roll, flip: a composite is one order of elements, whatever lies between its factors") {
  const auto x = drawn<tensor<float, seq, batch, d_k, pair>>(4, seq{3}, batch{2});
  const auto at = [&](std::size_t i, auto b, auto d) { return el(x, i / 2, b, d, i % 2); };
  const auto y = merge<seq, pair>(x);  // seq and pair do not lie one after the other
  CHECK(agrees(roll<merged<seq, pair>>(y, 4), {6, 2, 4}, 0,
               [&](auto i, auto b, auto d) { return at(turned(i, 4, 6), b, d); }) == "");
  CHECK(agrees(flip<merged<seq, pair>>(y), {6, 2, 4}, 0, [&](auto i, auto b, auto d) { return at(5 - i, b, d); }) ==
        "");
  // A destination whose factors are apart: split back, the turned product lies as the factors do.
  const tensor<float, pair, d_k, seq, batch> apart = dimwise::split<seq, pair>(roll<merged<seq, pair>>(y, 1));
  CHECK(differences(apart, {2, 4, 3, 2}, 0,
                    [&](auto p, auto d, auto s, auto b) { return at(turned(s * 2 + p, 1, 6), b, d); }) == "");
  const auto whole = drawn<tensor<float, d_k, summed<single, seq>>>(5, seq{3});
  CHECK(agrees(roll<summed<single, seq>>(whole, 1), {4, 4}, 0,
               [&](auto d, auto i) { return el(whole, d, turned(i, 1, 4)); }) == "");
}

TEST_CASE("flip: the order reversed, twice is none") {
  for (const std::size_t s : counts{0, 1, 5}) {
    const auto x = drawn<tensor<float, batch, seq, d_k>>(6, batch{2}, seq{s});
    CHECK(agrees(flip<seq>(x), {2, s, 4}, 0, [&](auto b, auto i, auto d) { return el(x, b, s - 1 - i, d); }) == "");
    CHECK(agrees(flip<d_k>(scattered(x).view()), {2, s, 4}, 0,
                 [&](auto b, auto i, auto d) { return el(x, b, i, 3 - d); }) == "");
    CHECK(agrees(flip<seq>(flip<seq>(x)), {2, s, 4}, 0, [&](auto b, auto i, auto d) { return el(x, b, i, d); }) == "");
  }
}

TEST_CASE("roll: what is masked stays masked, weights stay weights, positions stay") {
  const auto s = drawn<tensor<float, seq, key>>(7, seq{3}, key{3});
  const tensor weights = softmax<key>(dimwise::masked(s, dimwise::causal<seq, key>{}));
  const tensor rolled = softmax<key>(roll<key>(dimwise::masked(s, dimwise::causal<seq, key>{}), 1));
  CHECK(differences(rolled, {3, 3}, float32(4),
                    [&](auto q, auto k) { return double(el(weights, q, turned(k, 1, 3))); }) == "");
  const auto x = drawn<tensor<float, seq, d_k>>(8, dimwise::starting_at(seq{3}, 5));
  CHECK(dimwise::describe(x - roll<seq>(x, 1)) == "seq[3 from position 5] d_k[4]");
}
