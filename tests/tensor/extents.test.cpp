// tests/tensor/extents.test.cpp -- extents given when the program runs: negative, too large, dividing, and their
// origins.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::extent_error;
using dimwise::extent_of;
using dimwise::starting_at;
using dimwise::tensor;

}  // namespace

TEST_CASE("extents: negative ones throw, from every type of number") {
  CHECK(thrown<extent_error>([] { (void)seq{-1}; }) == "an extent is negative: -1 (R15)");
  CHECK(thrown<extent_error>([] { (void)seq{std::numeric_limits<std::int64_t>::min()}; }) ==
        "an extent is negative: -9223372036854775808 (R15)");
  CHECK(thrown<extent_error>([] { (void)seq{static_cast<signed char>(-7)}; }) == "an extent is negative: -7 (R15)");
  CHECK(seq{static_cast<unsigned char>(200)}.extent() == 200);
  CHECK(seq{std::size_t{5}}.extent() == 5);
}

TEST_CASE("extents: a static extent is given right or not at all") {
  CHECK(d_k{4}.extent() == 4);
  CHECK(d_k{}.extent() == 4);
  CHECK(thrown<extent_error>([] { (void)d_k{5}; }) == "extent 5 was given for a dimension of extent 4 (R15)");
}

TEST_CASE("extents: products that overflow throw, unless an extent of 0 makes them 0") {
  const std::size_t large = std::size_t{1} << 32U;
  CHECK(thrown<extent_error>([&] { tensor<float, batch, seq>(batch{large}, seq{large}); }) ==
        "tensor: a tensor of batch 4294967296 x seq 4294967296, 4 bytes each, has more elements than memory can hold "
        "(R15)");
  CHECK(thrown<extent_error>([&] { tensor<float, batch, seq>(batch{large}, seq{large >> 2U}); }) ==
        "tensor: a tensor of batch 4294967296 x seq 1073741824, 4 bytes each, has more elements than memory can hold "
        "(R15)");
  CHECK(thrown<extent_error>([&] {
    dimwise::tensor_view<float, batch, seq>(static_cast<float*>(nullptr), batch{large}, seq{large});
  }) == "tensor_view: a tensor of batch 4294967296 x seq 4294967296, 4 bytes each, has more elements than memory can "
        "hold (R15)");
  CHECK(tensor<float, batch, seq, key>(batch{large}, seq{0}, key{large}).size() == 0);
  // An expression may be formed; evaluating it fails before anything is written.
  const tensor<float, seq> x(seq{1});
  const auto wide = dimwise::broadcast<batch>(dimwise::broadcast<key>(x, key{large}), batch{large});
  CHECK(thrown<extent_error>([&] { (void)dimwise::evaluate(wide); }) ==
        "tensor: a tensor of batch 4294967296 x key 4294967296 x seq 1, 4 bytes each, has more elements than memory "
        "can hold (R15)");
}

TEST_CASE("extents: a run-time quotient is checked by the first tensor that holds all three dimensions") {
  using weight = tensor<float, width, branches, narrow>;
  CHECK(weight(width{12}, branches{3}, narrow{4}).size() == 144);
  CHECK(thrown<extent_error>([] { weight(width{12}, branches{3}, narrow{5}); }) ==
        "dimension narrow has extent 5, but width is 12 and branches is 3 (R4)");
  CHECK(thrown<extent_error>([] { weight(width{13}, branches{3}, narrow{4}); }) ==
        "dimension narrow has extent 4, but width is 13 and branches is 3 (R4)");
  CHECK(thrown<extent_error>([] {
    tensor<float, dimwise::merged<branches, narrow>, width>(width{10}, branches{3}, narrow{3});
  }) == "dimension narrow has extent 3, but width is 10 and branches is 3 (R4)");
  std::vector<float> memory(60);
  CHECK(thrown<extent_error>([&] {
    dimwise::tensor_view<float, width, branches, narrow>(memory, width{5}, branches{3}, narrow{4});
  }) == "dimension narrow has extent 4, but width is 5 and branches is 3 (R4)");
  // Formed by an expression.
  const tensor<float, branches, narrow> a(branches{3}, narrow{5});
  const tensor<float, width> b(width{12});
  CHECK(thrown<extent_error>([&] { (void)dimwise::evaluate(dimwise::outer(a, b)); }) ==
        "dimension narrow has extent 5, but width is 12 and branches is 3 (R4)");
}

TEST_CASE("extents: origins come with extents, survive expressions and storing, and count on in slices") {
  const tensor<float, seq, d_k> x(starting_at(seq{5}, 40));
  CHECK(x.extents().origin<seq>("test") == 40);
  const tensor<float, d_k, seq> y = x * 2;
  CHECK(y.extents().origin<seq>("test") == 40);
  CHECK(dimwise::rename<seq, key>(y).extents().origin<key>("test") == 40);
  CHECK(dimwise::slice<seq>(y, 2, 2).extents().origin<seq>("test") == 42);
  const tensor<float, seq> unsaid(seq{3});
  CHECK(unsaid.extents().origin<seq>("test") == 0);
  CHECK(!unsaid.extents().has_origin<seq>());
  // What follows begins where the first ends; a gap or an overlap leaves no position that could be asked for.
  const tensor<float, seq, d_k> next(starting_at(seq{2}, 45));
  CHECK(dimwise::concat<seq>(x, next).extents().origin<seq>("test") == 40);
  CHECK(dimwise::concat<seq>(x, tensor<float, seq, d_k>(seq{2})).extents().origin<seq>("test") == 40);
  CHECK_THROWS_AS((void)dimwise::concat<seq>(x, x).extents().origin<seq>("test"), dimwise::origin_error);
  CHECK(starting_at(seq{2}, -3).origin() == -3);
}

TEST_CASE("extents: of composites, the product and the sum of their factors and parts") {
  using dimwise::merged;
  using dimwise::summed;
  const tensor<float, seq, merged<branches, narrow>, summed<d_k, key>> x(seq{2}, branches{3}, narrow{5}, key{7});
  CHECK(extent_of<merged<branches, narrow>>(x) == 15);
  CHECK(extent_of<summed<d_k, key>>(x) == 11);
  CHECK(x.size() == 2 * 15 * 11);
}
