// tests/tensor/xtensor.test.cpp -- to xtensor and back.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"
#include <dimwise/tensor/xtensor.hpp>

#include <doctest/doctest.h>
#include <xtensor/xview.hpp>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::tensor;

}  // namespace

TEST_CASE("xtensor: containers and expressions become tensors, their axes named in order") {
  const xt::xtensor<float, 2> x = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
  const auto y = dimwise::from_xtensor<seq, d_k>(x);
  static_assert(std::is_same_v<decltype(y), const tensor<float, seq, d_k>>);
  CHECK(differences(y, {3, 4}, 0, [](auto s, auto d) { return s * 4 + d + 1; }) == "");
  CHECK(differences(dimwise::from_xtensor<seq, d_k>(2.0F * x), {3, 4}, 0,
                    [](auto s, auto d) { return 2 * (s * 4 + d + 1); }) == "");
  CHECK(differences(dimwise::from_xtensor<d_k, seq>(xt::transpose(x)), {4, 3}, 0,
                    [](auto d, auto s) { return s * 4 + d + 1; }) == "");
}

TEST_CASE("xtensor: axes that the names do not fit throw") {
  const xt::xtensor<float, 2> x({3, 5}, 0.0F);
  CHECK(thrown<dimwise::extent_error>([&] { (void)dimwise::from_xtensor<seq, d_k>(x); }) ==
        "from_xtensor: dimension d_k has extent 4 and was given 5 (R15)");
  CHECK(thrown<dimwise::extent_error>([&] { (void)dimwise::from_xtensor<seq>(x); }) ==
        "from_xtensor: 2 dimensions were given for 1 names (R15)");
}

TEST_CASE("xtensor: views borrow, with the strides of xtensor's own views") {
  xt::xtensor<float, 2> x = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
  auto v = dimwise::view_xtensor<seq, d_k>(x);
  CHECK(differences(dimwise::evaluate(v + 0), {3, 4}, 0, [](auto s, auto d) { return s * 4 + d + 1; }) == "");
  v = tensor<float, d_k, seq>(v) * 2;
  CHECK(x(2, 3) == 24);
  auto rows = xt::view(x, xt::range(1, 3), xt::range(0, 4, 2));
  const auto w = dimwise::view_xtensor<seq, width>(rows);
  CHECK(differences(dimwise::evaluate(w + 0), {2, 2}, 0,
                    [](auto s, auto d) { return 2 * ((s + 1) * 4 + 2 * d + 1); }) == "");
}

TEST_CASE("xtensor: tensors become containers and adaptors") {
  const auto x = drawn<tensor<float, seq, d_k>>(1, seq{3});
  const xt::xtensor<float, 2> y = dimwise::to_xtensor(x);
  REQUIRE(y.shape()[0] == 3);
  const auto z = dimwise::adapt_xtensor(x);
  for (std::size_t s = 0; s < 3; ++s) {
    for (std::size_t d = 0; d < 4; ++d) {
      CHECK(y(s, d) == el(x, s, d));
      CHECK(z(s, d) == el(x, s, d));
    }
  }
  CHECK(dimwise::to_xtensor(tensor<float, seq, d_k>(seq{0})).size() == 0);
}
