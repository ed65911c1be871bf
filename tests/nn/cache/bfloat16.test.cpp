// tests/nn/cache/bfloat16.test.cpp -- low-precision numbers: conversions, the scalar path, fused attention.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"
#include <dimwise/nn/paged_cache.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cmath>

namespace {

using namespace dimwise;
using namespace dimwise_test;

struct batch : batch_dim<> {};
struct kv_heads : heads_dim<> {};
struct group_of : heads_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_k : feature_dim<> {};
struct d_v : feature_dim<> {};

template <class S, class... D>
auto narrowed(const tensor<float, D...>& x) {
  tensor<S, D...> y;
  y = tensor<S, D...>::for_overwriting(x.extents());
  for (std::size_t i = 0; i < x.size(); ++i) { y.overwrite()[i] = S(x.values()[i]); }
  return y;
}

}  // namespace

TEST_CASE("bfloat16 and float16: every bit pattern is read back, and floats round to the nearest") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    bfloat16 b;
    b.bits = static_cast<std::uint16_t>(bits);
    float16 h;
    h.bits = static_cast<std::uint16_t>(bits);
    const auto wide_b = static_cast<float>(b);
    const auto wide_h = static_cast<float>(h);
    // The value by its definition.
    const int exponent = static_cast<int>((bits >> 10) & 0x1f);
    const int fraction = static_cast<int>(bits & 0x3ff);
    double value = exponent == 0x1f
                       ? (fraction == 0 ? double{infinite} : double{not_a_number})
                       : (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
    if ((bits & 0x8000) != 0) { value = -value; }
    CHECK((std::isnan(value) ? std::isnan(wide_h) : static_cast<double>(wide_h) == value));
    CHECK(std::bit_cast<std::uint32_t>(wide_b) == bits << 16);
    if (!std::isnan(wide_b)) { CHECK(bfloat16(wide_b).bits == b.bits); }
    if (!std::isnan(wide_h)) {
      CHECK(float16(wide_h).bits == h.bits);
      // Halfway to the next: to the even one; a little less or more: to the nearer one.
      if (exponent < 0x1e) {
        float16 next;
        next.bits = static_cast<std::uint16_t>(bits + 1);
        const auto upper = static_cast<float>(next);
        const float middle = (wide_h + upper) / 2;
        CHECK(float16(middle).bits == (bits % 2 == 0 ? bits : bits + 1));
        CHECK(float16(std::nextafter(middle, wide_h)).bits == bits);
        CHECK(float16(std::nextafter(middle, upper)).bits == bits + 1);
      }
    }
  }
  CHECK(float16(65519.99F).bits == 0x7bff);
  CHECK(float16(65520.0F).bits == 0x7c00);
  CHECK(std::isnan(static_cast<float>(float16(not_a_number))));
  CHECK(std::isnan(static_cast<float>(bfloat16(not_a_number))));
  CHECK(bfloat16(1.00390625F).bits == 0x3f80);  // halfway: to the even one
  CHECK(bfloat16(1.01171875F).bits == 0x3f82);
}

TEST_CASE("quantized numbers: nearest, ties to even, within the range") {
  CHECK(quantised_number(0.75F, 0.5F, -8, 7) == 2);
  CHECK(quantised_number(1.25F, 0.5F, -8, 7) == 2);
  CHECK(quantised_number(100, 0.5F, -8, 7) == 7);
  CHECK(quantised_number(-100, 0.5F, -8, 7) == -8);
  CHECK(quantised_number(not_a_number, 0.5F, -8, 7) == 0);
  CHECK(quantised_number(infinite, 0.5F, -8, 7) == 7);
  CHECK(quantised_number(1, 0, -8, 7) == 0);
  CHECK(int4_pair(-8, 7).first() == -8);
  CHECK(int4_pair(-8, 7).second() == 7);
}

namespace {

// Attention over stored keys and values equals attention over the floats that they stand for.
template <class K, class V>
void check_attention(std::size_t queries, std::size_t keys, std::size_t width, const K& k, const V& v) {
  CAPTURE(queries);
  CAPTURE(keys);
  CAPTURE(width);
  const auto q = drawn<tensor<float, batch, seq, kv_heads, group_of, d_k>>(1, batch{2}, seq{queries}, kv_heads{2},
                                                                           group_of{3}, d_k{width});
  const auto attention = [&](const auto& some_k, const auto& some_v) {
    return contract<key>(softmax<key>(masked(scores<d_k>(q, some_k), window<seq, key>(-1, 0, seq{queries}, key{keys}) |
                                                                         padding<key>(std::ptrdiff_t(keys / 2)))),
                         some_v);
  };
  const tensor k_floats = k;
  const tensor v_floats = v;
  reset_plans();
  const tensor fast = attention(k, v);
  CHECK(plans_run()[queries <= 4 ? plan_kind::decode : plan_kind::attention] == 1);
  const auto expected = reference(attention(k_floats, v_floats));
  const std::string wrong =
      differences(fast, extents_of(expected), float32(60), [&](auto... at) { return el(expected, at...); });
  CHECK(wrong == "");
  const auto by_loops = reference(attention(k, v));
  const std::string plainly_wrong =
      differences(by_loops, extents_of(expected), float64, [&](auto... at) { return el(expected, at...); });
  CHECK(plainly_wrong == "");
}

}  // namespace

TEST_CASE("attention over keys and values of 16, 8 and 4 bits: few queries and many, every tail") {
  for (const std::size_t queries : counts{1, 3, 9}) {
    for (const std::size_t keys : counts{1, 33, 200}) {
      for (const std::size_t width : counts{2, 6, 8, 17, 34, 64}) {
        const auto k = drawn<tensor<float, batch, kv_heads, key, d_k>>(2, batch{2}, kv_heads{2}, key{keys}, d_k{width});
        const auto v = drawn<tensor<float, batch, key, kv_heads, d_v>>(3, batch{2}, key{keys}, kv_heads{2}, d_v{width});
        check_attention(queries, keys, width, widened(narrowed<bfloat16>(k)), widened(narrowed<bfloat16>(v)));
        check_attention(queries, keys, width, widened(narrowed<float16>(k)), widened(narrowed<float16>(v)));

        // Scales per channel and for all: of few bits, so that the floats that a number stands for are exact.
        const auto few_bits = [](float x) { return (8 + std::round(4 * x)) / 1024; };
        const tensor k_scale = map(few_bits, drawn<tensor<float, kv_heads, d_k>>(4, kv_heads{2}, d_k{width}));
        const tensor v_scale = map(few_bits, drawn<tensor<float, d_v, kv_heads>>(5, d_v{width}, kv_heads{2}));
        const auto bytes = [&](const auto& x) { return narrowed<std::int8_t>(tensor(x * 127.0F)); };
        check_attention(queries, keys, width, dequantised(bytes(k), k_scale), dequantised(bytes(v), v_scale));
        check_attention(queries, keys, width, dequantised(bytes(k), tensor<float>({0.0078125F})),
                        dequantised(bytes(v), tensor<float>({0.015625F})));

        const std::size_t half_width = (width + 1) / 2;
        tensor<int4_pair, batch, kv_heads, key, half<d_k>> k4(batch{2}, kv_heads{2}, key{keys}, half<d_k>{half_width});
        for (std::size_t i = 0; i < k4.size(); ++i) {
          const auto number = [&](std::size_t j) { return static_cast<int>(std::floor(8 * drawn_number(j, 6))); };
          k4.data()[i] = int4_pair(number(2 * i), number(2 * i + 1));
        }
        k4.seal();
        check_attention(queries, keys, width, dequantised<d_k>(k4, tensor(k_scale * 16.0F), d_k{width}), v);
        check_attention(queries, keys, width, dequantised<d_k>(k4, tensor<float>({0.25F}), d_k{width}),
                        dequantised(bytes(v), v_scale));
      }
    }
  }
}

namespace {

struct d_h : feature_dim<> {};
template <class KeyElement, class ValueElement, class Kind>
using stored_cache = nn::kv_cache<key, Kind, nn::keys<KeyElement, key, d_h>, nn::values<ValueElement, key, d_h>>;

// NaN and infinities are rejected before anything is written.
template <class Cache>
void check_refused(Cache cache, bool keys, bool values, const char* bits) {
  const tensor<float, key, d_h> good({1, 2, 3, 4}, key{2}, d_h{2});
  cache.append(good, good);
  for (const float bad : {not_a_number, infinite, -infinite}) {
    const tensor<float, key, d_h> k({1, 2, 3, bad}, key{2}, d_h{2});
    const std::string what = bad != bad ? "NaN" : "infinite";
    const auto expected = [&](const char* side) {
      return std::string("append: a ") + side + " is " + what + ", whole numbers of " + bits +
             " bits along key hold finite numbers";
    };
    if (keys) {
      CHECK(thrown<number_error>([&] { cache.append(k, good); }) == expected("key"));
    }
    if (values) {
      CHECK(thrown<number_error>([&] { cache.append(good, k); }) == expected("value"));
    }
    CHECK(cache.length() == 2);
  }
  CHECK(differ(tensor<float, key, d_h>(cache.values()), good, 0.2) == "");  // half a step of 0.6, of 1 + |x|
  // Beyond the largest number that is stored: the largest.
  const tensor<float, key, d_h> large({1, 2, 3, 1e30F}, key{2}, d_h{2});
  cache.append(large, large);
  CHECK(cache.length() == 4);
}

}  // namespace

TEST_CASE("kv_cache: whole numbers take no NaN and no infinity, nor does their scale") {
  const tensor<float> scale({0.5F});
  const d_h two{2};
  check_refused(stored_cache<nn::int8_by<>, nn::int8_by<>, nn::capacity<8>>(scale, scale, two), true, true, "8");
  check_refused(
      stored_cache<nn::int4_by<>, nn::int4_by<>, nn::sliding<4>>(tensor<float>({0.6F}), tensor<float>({0.6F}), two),
      true, true, "4");
  check_refused(stored_cache<nn::int8_by<>, nn::int8_by<>, nn::paged<2>>(scale, scale, two), true, true, "8");
  check_refused(stored_cache<float, nn::int8_by<>, nn::capacity<8>>(scale, two), false, true, "8");
  for (const float bad : {not_a_number, infinite, 0.0F}) {
    const tensor<float> odd({bad});
    const std::string expected = std::string("kv_cache: a scale is ") +
                                 (bad == 0     ? "0"
                                  : bad != bad ? "NaN"
                                               : "infinite") +
                                 ", the scale of whole numbers is finite and not 0";
    CHECK(thrown<number_error>([&] { stored_cache<nn::int8_by<>, nn::int8_by<>, nn::capacity<8>>(odd, scale, two); }) ==
          expected);
    CHECK(thrown<number_error>([&] { stored_cache<nn::int4_by<>, nn::int4_by<>, nn::paged<8>>(scale, odd, two); }) ==
          expected);
  }
}

TEST_CASE("kv_cache: floats of 16 bits keep NaN and infinities, and what is too large is infinite") {
  const auto check = [&](auto cache) {
    const tensor<float, key, d_h> odd({not_a_number, infinite, -infinite, 3.4e38F, 1e-42F, -0.0F}, key{3}, d_h{2});
    cache.append(odd, odd);
    const tensor<float, key, d_h> got = cache.values();
    CHECK(std::isnan(got.values()[0]));
    CHECK(got.values()[1] == infinite);
    CHECK(got.values()[2] == -infinite);
    CHECK(got.values()[3] == infinite);
    CHECK(got.values()[4] == 0);
    CHECK((got.values()[5] == 0 && std::signbit(got.values()[5])));
  };
  check(stored_cache<bfloat16, bfloat16, nn::capacity<8>>(d_h{2}));
  check(stored_cache<float16, float16, nn::capacity<8>>(d_h{2}));
  check(stored_cache<float16, float16, nn::paged<2>>(d_h{2}));
}

TEST_CASE("dequantised: a scale of NaN or infinity is seen in every number") {
  const tensor<std::int8_t, key, d_h> x({1, -2, 3, 0}, key{2}, d_h{2});
  const auto by = [&](float s) { return tensor<float, key, d_h>(dequantised(x, tensor<float>({s}))); };
  const auto unknown = by(not_a_number);
  for (const float v : unknown.values()) { CHECK(std::isnan(v)); }
  const auto large = by(infinite);
  CHECK(large.values()[0] == infinite);
  CHECK(large.values()[1] == -infinite);
  CHECK(std::isnan(large.values()[3]));
}

TEST_CASE("bfloat16 and float16: a NaN of any bits stays one, with its sign") {
  for (const std::uint32_t bits : {0x7f800001U, 0x7fc00000U, 0x7fffffffU, 0xff800001U, 0xffc12345U, 0x7f80ffffU}) {
    const auto nan = std::bit_cast<float>(bits);
    CHECK(std::isnan(static_cast<float>(bfloat16(nan))));
    CHECK(std::isnan(static_cast<float>(float16(nan))));
    CHECK(std::signbit(static_cast<float>(bfloat16(nan))) == std::signbit(nan));
    CHECK(std::signbit(static_cast<float>(float16(nan))) == std::signbit(nan));
  }
  CHECK(static_cast<float>(bfloat16(std::numeric_limits<float>::max())) == infinite);
  CHECK(static_cast<float>(float16(-1e5F)) == -infinite);
  CHECK(static_cast<float>(float16(std::bit_cast<float>(1U))) == 0);
}
