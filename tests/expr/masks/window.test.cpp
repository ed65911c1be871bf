// tests/expr/masks/window.test.cpp -- unroll and pool.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::pool;
using dimwise::tensor;
using dimwise::unroll;

struct kernel : dimwise::feature_dim<> {};
struct three : dimwise::feature_dim<3> {};
struct two : dimwise::feature_dim<2> {};
struct halves : dimwise::position_dim<2> {};

}  // namespace

TEST_CASE("unroll: every window of neighbours, wherever the dimension lies") {
  for (const std::size_t n : counts{3, 4, 9}) {
    const auto x = drawn<tensor<float, batch, seq, d_k>>(1, batch{2}, seq{n});
    const auto expected = [&](auto b, auto s, auto w, auto d) { return el(x, b, s + w, d); };
    CHECK(agrees(unroll<seq, three>(x), {2, n - 2, 3, 4}, 0, expected) == "");
    CHECK(agrees(unroll<seq, kernel>(x, kernel{3}), {2, n - 2, 3, 4}, 0, expected) == "");
    CHECK(agrees(unroll<seq, three>(scattered(x).view()), {2, n - 2, 3, 4}, 0, expected) == "");
  }
  const auto fixed = drawn<tensor<float, four, d_k>>(2);
  CHECK(agrees(unroll<four, three, halves>(fixed), {2, 3, 4}, 0,
               [&](auto s, auto w, auto d) { return el(fixed, s + w, d); }) == "");
}

TEST_CASE("unroll: contracted with a kernel, a convolution") {
  const auto x = drawn<tensor<float, seq, d_k>>(3, seq{7});
  const auto w = drawn<tensor<float, three, d_k, d_v>>(4);
  CHECK(agrees(dimwise::contract<three, d_k>(unroll<seq, three>(x), w), {5, 4}, 24, [&](auto s, auto o) {
    return sum_of(3,
                  [&](auto i) { return sum_of(4, [&](auto d) { return double{el(x, s + i, d)} * el(w, i, d, o); }); });
  }) == "");
}

TEST_CASE("pool: windows that do not overlap") {
  const auto x = drawn<tensor<float, d_k, seq>>(5, seq{6});
  CHECK(agrees(pool<seq, two>(x), {4, 3, 2}, 0, [&](auto d, auto s, auto w) { return el(x, d, 2 * s + w); }) == "");
  CHECK(agrees(dimwise::max<kernel>(pool<seq, kernel>(x, kernel{3})), {4, 2}, 0, [&](auto d, auto s) {
    return std::max({el(x, d, 3 * s), el(x, d, 3 * s + 1), el(x, d, 3 * s + 2)});
  }) == "");
  CHECK(agrees(dimwise::mean<two>(pool<seq, two>(scattered(x).view())), {4, 3}, 2,
               [&](auto d, auto s) { return (double{el(x, d, 2 * s)} + el(x, d, 2 * s + 1)) / 2; }) == "");
}

TEST_CASE("windows: those that do not fit throw") {
  const tensor<float, seq> x(seq{5});
  CHECK(thrown<dimwise::extent_error>([&] { (void)unroll<seq, kernel>(x, kernel{6}); }) ==
        "unroll: a window of 6 does not fit dimension seq of extent 5 (R13)");
  CHECK(thrown<dimwise::extent_error>([&] { (void)unroll<seq, kernel>(x, kernel{0}); }) ==
        "unroll: a window of 0 does not fit dimension seq of extent 5 (R13)");
  CHECK(thrown<dimwise::extent_error>([&] { (void)pool<seq, two>(x); }) ==
        "pool: windows of 2 do not divide dimension seq of extent 5 (R4)");
}
