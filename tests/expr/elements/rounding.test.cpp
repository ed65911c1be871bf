// tests/expr/elements/rounding.test.cpp -- numbers rounded to a low precision, and scales for blocks of 32 neighbours.
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/dimwise.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace {

using namespace dimwise;

struct row : batch_dim<> {};
struct f : feature_dim<> {};
struct g : feature_dim<> {};
struct h : heads_dim<> {};
struct f64 : feature_dim<64> {};
struct f65 : feature_dim<65> {};
struct h3 : heads_dim<3> {};
struct f24 : feature_dim<24> {};
using bytes = tensor<std::int8_t, row, f>;

static_assert(blocks<f>::static_extent == at_run_time);
static_assert(blocks<f64>::static_extent == 2);
static_assert(blocks<f65>::static_extent == 3);
static_assert(blocks<h3, f24>::static_extent == 3);

TEST_CASE("rounded gives the nearest number of 16 bits") {
  const tensor<float, f> x({1.0F, 1.00390625F, 1.01171875F, -3.1F, 70000.0F}, f{5});
  const tensor<float, f> b = rounded<bfloat16>(x);
  CHECK(b.values()[1] == 1.0F);       // 1 + 1/256 is half way; the even neighbour is 1
  CHECK(b.values()[2] == 1.015625F);  // 1 + 3/256 is half way between 1 + 1/128 and 1 + 2/128
  CHECK(b.values()[3] == static_cast<float>(bfloat16(-3.1F)));
  const tensor<float, f> h16 = rounded<float16>(x);
  CHECK(h16.values()[4] == std::numeric_limits<float>::infinity());
  CHECK(h16.values()[3] == static_cast<float>(float16(-3.1F)));
}

TEST_CASE("quantised rounds blocks of 32 neighbours to multiples of their largest magnitude / 127") {
  tensor<float, row, f> x(row{2}, f{40});
  for (std::size_t i = 0; i < x.size(); ++i) {
    x.data()[i] = std::sin(static_cast<float>(i)) * static_cast<float>(1 + i % 7);
  }
  const tensor<float, row, f> y = quantised<f>(x);
  for (std::size_t r = 0; r < 2; ++r) {
    for (std::size_t begin = 0; begin < 40; begin += 32) {
      const std::size_t end = std::min<std::size_t>(begin + 32, 40);
      float largest = 0;
      for (std::size_t i = begin; i < end; ++i) { largest = std::max(largest, std::fabs(x.values()[r * 40 + i])); }
      for (std::size_t i = begin; i < end; ++i) {
        const float step = largest / 127;
        const float expected = std::nearbyint(x.values()[r * 40 + i] * (127 / largest)) * step;
        CHECK(y.values()[r * 40 + i] == doctest::Approx(expected).epsilon(1e-6));
        CHECK(std::fabs(y.values()[r * 40 + i] - x.values()[r * 40 + i]) <= step * 0.5001F);
      }
    }
  }
}

TEST_CASE("quantised: the blocks of several dimensions go through them, the last named fastest") {
  tensor<float, h, g> x(h{3}, g{24});
  for (std::size_t i = 0; i < 72; ++i) { x.data()[i] = i == 31 ? 1000.0F : 1.0F; }
  const tensor<float, h, g> y = quantised<h, g>(x);
  // Element 31 is in the first block, elements from 32 on are in the second one, though they are in one row of g.
  CHECK(y.values()[0] == 0.0F);
  CHECK(y.values()[30] == 0.0F);
  CHECK(y.values()[31] == doctest::Approx(1000.0F));
  CHECK(y.values()[32] == doctest::Approx(1.0F));
  CHECK(y.values()[71] == doctest::Approx(1.0F));
}

TEST_CASE("quantised: zeros stay zeros, and what is not finite makes its block NaN") {
  tensor<float, f> x(f{64});
  x.data()[33] = std::numeric_limits<float>::infinity();
  tensor<float, f> y = quantised<f>(x);
  CHECK(y.values()[0] == 0.0F);
  CHECK(std::isnan(y.values()[40]));
  x.data()[33] = std::numeric_limits<float>::quiet_NaN();
  y = quantised<f>(x);
  CHECK(y.values()[31] == 0.0F);
  CHECK(std::isnan(y.values()[32]));
}

TEST_CASE("dequantised: a scale along blocks serves 32 neighbours") {
  bytes q(row{2}, f{40});
  for (std::size_t i = 0; i < q.size(); ++i) { q.data()[i] = static_cast<std::int8_t>(i % 11); }
  const tensor<float16, row, blocks<f>> scale({float16(1.0F), float16(0.5F), float16(2.0F), float16(0.25F)}, row{2},
                                              blocks<f>{2});
  const tensor<float, row, f> y = dequantised(q, scale);
  const float by[] = {1.0F, 0.5F, 2.0F, 0.25F};
  for (std::size_t r = 0; r < 2; ++r) {
    for (std::size_t i = 0; i < 40; ++i) {
      CHECK(y.values()[r * 40 + i] == static_cast<float>(q.values()[r * 40 + i]) * by[r * 2 + i / 32]);
    }
  }
  const tensor<float16, row, blocks<f>> few(row{2}, blocks<f>{1});
  CHECK_THROWS_WITH_AS((void)dequantised(q, few), doctest::Contains("blocks<f> has extent 1, but"), extent_error);
}

TEST_CASE("dequantised: two numbers in a byte, a scale along blocks of several dimensions") {
  tensor<int4_pair, row, h, half<g>> q(row{2}, h{2}, half<g>{12});
  for (std::size_t i = 0; i < q.size(); ++i) {
    q.data()[i] = int4_pair(static_cast<int>(i % 16) - 8, static_cast<int>(i * 5 % 16) - 8);
  }
  tensor<float, row, blocks<h, g>> scale(row{2}, blocks<h, g>{2});
  for (std::size_t i = 0; i < 4; ++i) { scale.data()[i] = static_cast<float>(1 + i); }
  const tensor<float, row, h, g> y = dequantised<g>(q, scale, g{24});
  for (std::size_t i = 0; i < y.size(); ++i) {
    const int4_pair both = q.values()[i / 2];
    const int number = i % 2 == 0 ? both.first() : both.second();
    CHECK(y.values()[i] == static_cast<float>(number) * static_cast<float>(1 + i / 48 * 2 + i % 48 / 32));
  }
}

}  // namespace
