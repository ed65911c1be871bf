// tests/nn/weight.test.cpp -- low-precision weights: what modules compute with them.
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/dimwise.hpp>
#include <dimwise/nn.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace {

using namespace dimwise;

struct batch : batch_dim<> {};
struct words : choice_dim<> {};
struct d_model : feature_dim<> {};
struct heads : heads_dim<> {};
struct d_k : feature_dim<> {};

template <class T, class Bias = nn::with_bias>
using to_heads = nn::linear<nn::from<d_model>, nn::to<heads, d_k>, Bias, T>;
template <class T>
using from_heads = nn::linear<nn::from<heads, d_k>, nn::to<d_model>, nn::no_bias, T>;

static_assert(std::is_same_v<to_heads<float>::weight_type, tensor<float, d_model, heads, d_k>>);
static_assert(std::is_same_v<to_heads<bfloat16>::weight_type, tensor<bfloat16, heads, d_k, d_model>>);
static_assert(std::is_same_v<to_heads<bfloat16>::bias_type, tensor<float, heads, d_k>>);
static_assert(
    std::is_same_v<to_heads<nn::int4_blocks>::weight_type::numbers_type, tensor<int4_pair, heads, d_k, half<d_model>>>);
static_assert(std::is_same_v<from_heads<nn::int8_blocks>::weight_type::scales_type,
                             tensor<float16, d_model, blocks<heads, d_k>>>);

template <class X>
double largest_of(const X& x) {
  const tensor stored = x;
  double most = 0;
  for (const float v : stored.values()) { most = std::max(most, std::fabs(static_cast<double>(v))); }
  return most;
}
double number_at(std::size_t i) {
  return std::sin(static_cast<double>(i) * 0.7) + 0.3 * std::cos(static_cast<double>(i * i % 97));
}

// The largest difference from products of floats, as a share of the largest result.
template <class T>
double error_of() {
  nn::xavier_uniform how(3);
  auto map = nn::initialised<to_heads<T>>(how, d_model{96}, heads{3}, d_k{40});
  auto back = nn::initialised<from_heads<T>>(how, d_model{96}, heads{3}, d_k{40});
  tensor<float, batch, d_model> x(batch{5}, d_model{96});
  for (std::size_t i = 0; i < x.size(); ++i) { x.data()[i] = static_cast<float>(number_at(i)); }
  for (std::size_t i = 0; i < map.bias.size(); ++i) { map.bias.data()[i] = static_cast<float>(i) * 0.01F; }
  tensor y = map(x);
  tensor<float, batch, heads, d_k> exact =
      contract<d_model>(x, nn::detail::functions::as_floats(map.weight)) + map.bias;
  tensor z = back(y);
  tensor<float, batch, d_model> exact_back = contract<heads, d_k>(y, nn::detail::functions::as_floats(back.weight));
  return std::max(largest_of(y - exact) / largest_of(exact), largest_of(z - exact_back) / largest_of(exact_back));
}

TEST_CASE("products with quantized weights differ from those of floats by what the inputs are rounded") {
  CHECK(error_of<float16>() < 1e-6);  // inputs are not rounded
  // bfloat16 has 8 bits, so inputs differ by 2^-9 of themselves.
  CHECK(error_of<bfloat16>() < 4e-3);
  CHECK(error_of<bfloat16>() > 1e-5);
  // Blocks have steps of 1/127 of their largest: half a step each, with signs that mostly cancel.
  CHECK(error_of<nn::int8_blocks>() < 1e-2);
  CHECK(error_of<nn::int8_blocks>() > 1e-4);
  CHECK(error_of<nn::int4_blocks>() < 1e-2);
}

TEST_CASE("a weight in blocks holds the nearest numbers to what it is given") {
  nn::block_weight<nn::int8_blocks, detail::list<words>, detail::list<d_model>> eight;
  nn::block_weight<nn::int4_blocks, detail::list<words>, detail::list<d_model>> four;
  tensor<float, words, d_model> x(words{4}, d_model{50});
  for (std::size_t i = 0; i < x.size(); ++i) { x.data()[i] = static_cast<float>(number_at(i)); }
  eight.assign(x);
  four.assign(x);
  const tensor<float, words, d_model> y8 = eight.dequantised();
  const tensor<float, words, d_model> y4 = four.dequantised();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t scale = i / 50 * 2 + i % 50 / 32;
    const float step8 = static_cast<float>(eight.scales().values()[scale]);
    const float step4 = std::fabs(static_cast<float>(four.scales().values()[scale]));
    CHECK(std::fabs(y8.values()[i] - x.values()[i]) <= 0.5001F * step8 + 0.05F * step8);
    // There is no 8: what is as far on the other side becomes 7.
    CHECK(std::fabs(y4.values()[i] - x.values()[i]) <= 1.001F * step4);
  }
  CHECK(eight.bytes() == 4 * (50 + 2 * 2));
  CHECK(four.bytes() == 4 * (25 + 2 * 2));
  x.data()[7] = INFINITY;
  CHECK_THROWS_AS(eight.assign(x), number_error);
  x.data()[7] = 1e8F;
  CHECK_THROWS_AS(four.assign(x), number_error);
  const tensor<float, words, d_model> again = eight.dequantised();
  CHECK(std::equal(again.values().begin(), again.values().end(), y8.values().begin()));
}

template <class T>
void check_table() {
  nn::normal how(5, 1);
  const auto table = nn::initialised<nn::embedding<words, d_model, T>>(how, words{9}, d_model{64});
  const tensor<float, words, d_model> all = nn::detail::functions::as_floats(table.table);
  tensor<id<words>, batch> ids({id<words>{7}, id<words>{0}, id<words>{7}}, batch{3});
  const tensor<float, batch, d_model> rows = table(ids);
  for (std::size_t i = 0; i < 64; ++i) {
    CHECK(rows.values()[i] == all.values()[7 * 64 + i]);
    CHECK(rows.values()[64 + i] == all.values()[i]);
  }
  const tensor<float, batch, words> logits = table.logits(rows);
  const tensor<float, batch, words> exact = contract<d_model>(rows, all);
  CHECK(largest_of(logits - exact) < 2e-2 * largest_of(exact));
}
TEST_CASE("words are looked up in stored tables, and the same table gives logits") {
  check_table<float>();
  check_table<bfloat16>();
  check_table<float16>();
  check_table<nn::int8_blocks>();
  check_table<nn::int4_blocks>();
}

TEST_CASE("a weight in blocks is one parameter") {
  const auto map = nn::initialised<to_heads<nn::int8_blocks>>(nn::normal(1), d_model{64}, heads{2}, d_k{8});
  std::size_t parameters = 0;
  nn::for_each_parameter(map, [&](const std::string&, const auto&) { ++parameters; });
  CHECK(parameters == 2);
  CHECK(nn::parameter_count(map) == 64 * 16 + 16);
}

}  // namespace
