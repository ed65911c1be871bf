// tests/expr/positions/positions.test.cpp -- sinusoids, rotary positions, biases by distance, skew.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::biased;
using dimwise::map;
using dimwise::rotary;
using dimwise::sinusoid;
using dimwise::starting_at;
using dimwise::tensor;

struct distance : dimwise::position_dim<> {};
struct buckets : dimwise::feature_dim<8> {};
struct four_heads : dimwise::heads_dim<4> {};

// Vaswani et al. 2017, section 3.5.
double wave(double position, std::size_t feature, std::size_t features, double base = 10000) {
  const double angle = position / std::pow(base, static_cast<double>(feature / 2 * 2) / static_cast<double>(features));
  return feature % 2 == 0 ? std::sin(angle) : std::cos(angle);
}

}  // namespace

TEST_CASE("sinusoid: static widths, from extent 0 on") {
  for (const std::size_t s : counts{0, 1, 9}) {
    CHECK(agrees(sinusoid<seq, d_model>(seq{s}), {s, 12}, 1,
                 [](auto p, auto f) { return wave(static_cast<double>(p), f, 12); }) == "");
  }
}

TEST_CASE("sinusoid: odd widths end with a sine") {
  for (const std::size_t w : counts{1, 2, 3, 7}) {
    CHECK(agrees(sinusoid<seq, width>(seq{4}, width{w}), {4, w}, 1,
                 [&](auto p, auto f) { return wave(static_cast<double>(p), f, w); }) == "");
  }
}

TEST_CASE("sinusoid: origins, negative ones and far ones, and another base") {
  for (const std::ptrdiff_t origin : {-3, 41, 1'000'000}) {
    // Angles are computed in double: at position 10^6 they err by 10^-10.
    const auto y = dimwise::reference(sinusoid<seq, d_model>(starting_at(seq{3}, origin)));
    CHECK(differences(y, {3, 12}, 1e-9, [&](auto p, auto f) {
      return wave(static_cast<double>(origin + static_cast<std::ptrdiff_t>(p)), f, 12);
    }) == "");
  }
  CHECK(agrees(sinusoid<seq, d_model>(seq{5}, d_model{}, 500), {5, 12}, 1,
               [](auto p, auto f) { return wave(static_cast<double>(p), f, 12, 500); }) == "");
}

TEST_CASE("sinusoid: is added like any other tensor") {
  const auto x = drawn<dimwise::tensor<float, batch, seq, d_model>>(1, batch{2}, seq{3});
  CHECK(agrees(x + sinusoid<seq, d_model>(seq{3}), {2, 3, 12}, 2,
               [&](auto b, auto p, auto f) { return el(x, b, p, f) + wave(static_cast<double>(p), f, 12); }) == "");
}

TEST_CASE("rotary: pairs of features turned by their position, both ways of pairing") {
  const auto x = drawn<tensor<float, batch, seq, heads, d_k>>(2, batch{2}, starting_at(seq{5}, 7));
  const auto angle = [](auto s, std::size_t pair, double base) {
    return static_cast<double>(s + 7) * std::pow(base, -2.0 * static_cast<double>(pair) / 4);
  };
  const auto turned = [](double a, double b, double by) { return a * std::cos(by) - b * std::sin(by); };
  // Each sum of two products, with sines of magnitude 1: 4 roundings, and 1 of each sine.
  CHECK(agrees(rotary<seq, d_k>(x), {2, 5, 3, 4}, 8, [&](auto b, auto s, auto h, auto d) {
    const double by = angle(s, d % 2, 10000);
    return d < 2 ? turned(el(x, b, s, h, d), el(x, b, s, h, d + 2), by)
                 : turned(el(x, b, s, h, d), -el(x, b, s, h, d - 2), by);
  }) == "");
  CHECK(agrees(rotary<seq, d_k>(scattered(tensor<float, d_k, batch, heads, seq>(x)).view() * 1,
                                {100, dimwise::rotary_pairs::interleaved}),
               {4, 2, 3, 5}, 8, [&](auto d, auto b, auto h, auto s) {
    const double by =
        static_cast<double>(s) * std::pow(100.0, -2.0 * static_cast<double>(d / 2) / 4);  // the view has no origin
    return d % 2 == 0 ? turned(el(x, b, s, h, d), el(x, b, s, h, d + 1), by)
                      : turned(el(x, b, s, h, d), -el(x, b, s, h, d - 1), by);
  }) == "");
  CHECK(thrown<dimwise::extent_error>([] { (void)rotary<seq, width>(tensor<float, seq, width>(seq{2}, width{3})); }) ==
        "rotary: dimension width has the odd extent 3 (R9)");
}

TEST_CASE("rotary: scores depend on the distance of positions alone") {
  const auto q = drawn<tensor<float, seq, d_k>>(3, seq{4});
  const auto k = drawn<tensor<float, key, d_k>>(4, key{4});
  const auto at_origin = [&](std::ptrdiff_t o) {
    const tensor<float, seq, d_k> q_here(q.values(), starting_at(seq{4}, o));
    const tensor<float, key, d_k> k_here(k.values(), starting_at(key{4}, o));
    return dimwise::reference(dimwise::scores<d_k>(rotary<seq, d_k>(q_here), rotary<key, d_k>(k_here)));
  };
  CHECK(differ(at_origin(0), at_origin(1000), 1e-11) == "");
}

TEST_CASE("alibi: a slope for each head, by the distance of positions") {
  const auto q = drawn<tensor<float, seq, d_k>>(5, starting_at(seq{2}, 3));
  const auto k = drawn<tensor<float, key, d_k>>(6, key{5});
  const auto s = dimwise::scores<d_k>(q, k);
  const auto score = [&](auto i, auto j) {
    return sum_of(4, [&](auto d) { return double{el(q, i, d)} * el(k, j, d); }) / 2;
  };
  const auto apart = [](auto i, auto j) { return std::abs(static_cast<double>(i) + 3 - static_cast<double>(j)); };
  CHECK(agrees(biased(s, dimwise::alibi<seq, key, four_heads>{}), {2, 5, 4}, 12, [&](auto i, auto j, auto h) {
    return score(i, j) - std::exp2(-2.0 * static_cast<double>(h + 1)) * apart(i, j);
  }) == "");
  const double interpolated[] = {std::exp2(-4), std::exp2(-8),
                                 std::exp2(-2)};  // three heads: those of two, then of four
  CHECK(agrees(biased(s, dimwise::alibi<seq, key, heads>{}), {2, 5, 3}, 12,
               [&](auto i, auto j, auto h) { return score(i, j) - interpolated[h] * apart(i, j); }) == "");
}

TEST_CASE("alibi: merged heads have slopes one after another, as heads of one dimension") {
  struct shared : dimwise::heads_dim<2> {};
  struct own : dimwise::heads_dim<> {};
  struct all_heads : dimwise::heads_dim<> {};
  for (const std::size_t group : {2U, 3U}) {
    CAPTURE(group);
    const auto n = static_cast<std::ptrdiff_t>(group);
    const auto zeros = dimwise::tensor<float, seq, key, dimwise::merged<shared, own>>(seq{3}, key{3}, own{n});
    const auto plain_zeros = dimwise::tensor<float, seq, key, all_heads>(seq{3}, key{3}, all_heads{2 * n});
    const dimwise::tensor sloped = biased(zeros, dimwise::alibi<seq, key, dimwise::merged<shared, own>>{});
    const dimwise::tensor expected = biased(plain_zeros, dimwise::alibi<seq, key, all_heads>{});
    REQUIRE(sloped.size() == expected.size());
    for (std::size_t i = 0; i < sloped.size(); ++i) { CHECK(sloped.data()[i] == expected.data()[i]); }
  }
}

TEST_CASE("a function of biased scores: soft caps take what was added with them") {
  const auto q = drawn<tensor<float, seq, d_k>>(5, starting_at(seq{2}, 3));
  const auto k = drawn<tensor<float, key, d_k>>(6, key{5});
  const auto bias = drawn<tensor<float, key>>(7, key{5});
  const auto s = dimwise::scores<d_k>(q, k);
  const auto cap = [](auto x) { return 2 * std::tanh(x / 2); };
  const auto sloped = biased(s, dimwise::alibi<seq, key, heads>{});
  const auto expected = dimwise::reference(sloped);
  CHECK(agrees(dimwise::map(cap, sloped), {2, 5, 3}, 16,
               [&](auto i, auto j, auto h) { return cap(el(expected, i, j, h)); }) == "");
  const auto added = dimwise::reference(s + bias);
  CHECK(agrees(dimwise::map(cap, biased(s, bias)), {2, 5}, 16, [&](auto i, auto j) { return cap(el(added, i, j)); }) ==
        "");
  CHECK(agrees(dimwise::softmax<key>(dimwise::map(cap, biased(s, bias))), {2, 5}, 40, [&](auto i, auto j) {
    return std::exp(cap(el(added, i, j))) / sum_of(5, [&](auto l) { return std::exp(cap(el(added, i, l))); });
  }) == "");
}

TEST_CASE("relative_bias: a learned number for each distance, clipped or in the buckets of T5") {
  const auto q = drawn<tensor<float, seq, d_k>>(7, seq{40});
  const auto k = drawn<tensor<float, key, d_k>>(8, key{40});
  const auto table = drawn<tensor<float, heads, buckets>>(9);
  const auto s = dimwise::scores<d_k>(q, k);
  const auto score = [&](auto i, auto j) {
    return sum_of(4, [&](auto d) { return double{el(q, i, d)} * el(k, j, d); }) / 2;
  };
  CHECK(
      agrees(biased(s, dimwise::relative_bias<seq, key, buckets>(table)), {40, 40, 3}, 10, [&](auto i, auto j, auto h) {
    const long d = static_cast<long>(j) - static_cast<long>(i);
    return score(i, j) + el(table, h, std::min(std::clamp(d, -4L, 4L) + 4, 7L));
  }) == "");
  CHECK(agrees(biased(s, dimwise::relative_bias<seq, key, buckets>(table, dimwise::t5_buckets{true, 16})), {40, 40, 3},
               10, [&](auto i, auto j, auto h) {
    // Eight buckets: four for each direction, of which 0 and 1 are exact and 2 to 15 are two logarithmic
    // steps.
    const std::size_t n = j > i ? j - i : i - j;
    const std::size_t near =
        n < 2 ? n
              : std::min<std::size_t>(
                    3, 2 + static_cast<std::size_t>(std::log(static_cast<double>(n) / 2) / std::log(8.0) * 2));
    return score(i, j) + el(table, h, near + (j > i ? 4 : 0));
  }) == "");
}

TEST_CASE("relative_bias: a table of double makes scores of float double, as any bias does") {
  const auto s =
      dimwise::scores<d_k>(drawn<tensor<float, seq, d_k>>(7, seq{4}), drawn<tensor<float, key, d_k>>(8, key{4}));
  const tensor<double, buckets> table({1e-12, 2e-12, 3e-12, 4e-12, 5e-12, 6e-12, 7e-12, 8e-12});
  const auto y = biased(s * 0.0F, dimwise::relative_bias<seq, key, buckets>(table));
  static_assert(std::is_same_v<decltype(y)::value_type, double>);
  CHECK(agrees(y + 1.0, {4, 4}, 0, [&](auto i, auto j) { return 1.0 + el(table, j + 4 - i); }) == "");
}

TEST_CASE("relative_bias, skew: distances may be counted by the keys' own dimension, with another extent") {
  const auto table = drawn<tensor<float, key, heads>>(60, key{9});
  const auto s = drawn<tensor<float, heads, seq, key>>(61, seq{5}, key{5});
  CHECK(agrees(biased(s, dimwise::relative_bias<seq, key, key>(table)), {3, 5, 5}, 1,
               [&](auto h, auto q, auto k) { return double(el(s, h, q, k)) + el(table, k + 4 - q, h); }) == "");
  const auto x = drawn<tensor<float, seq, key>>(62, seq{3}, starting_at(key{5}, -2));
  CHECK(agrees(dimwise::skew<seq, key, key>(x, key{3}), {3, 3}, 0,
               [&](auto q, auto k) { return el(x, q, k + 2 - q); }) == "");
}

TEST_CASE("skew: from relative to absolute positions, 0 where there is no such distance") {
  const auto x = drawn<tensor<float, heads, seq, distance>>(10, seq{4}, starting_at(distance{5}, -3));
  CHECK(agrees(dimwise::skew<seq, distance, key>(x, key{6}), {3, 4, 6}, 0, [&](auto h, auto q, auto k) {
    const long r = static_cast<long>(k) - static_cast<long>(q) + 3;
    return r >= 0 && r < 5 ? el(x, h, q, r) : 0.0F;
  }) == "");
}

TEST_CASE("alibi over packed positions: before the mask of documents or after it, and as for each document alone") {
  struct packed : dimwise::packed_dim<> {
    using dimwise::packed_dim<>::packed_dim;
  };
  struct packed_key : dimwise::prime<packed> {
    using dimwise::prime<packed>::prime;
  };
  using table = tensor<float, four_heads, packed, packed_key>;
  using weights = tensor<float, four_heads, packed, packed_key, dimwise::normalised<packed_key>>;
  const auto s = drawn<table>(3, packed{{3, 1, 2}}, packed_key{{3, 1, 2}});
  const dimwise::alibi<packed, packed_key, four_heads> near;
  const dimwise::document<packed, packed_key> own;
  const weights after = dimwise::softmax<packed_key>(biased(dimwise::masked(s, own), near));
  const weights before = dimwise::softmax<packed_key>(dimwise::masked(biased(s, near), own));
  CHECK(differ(before, after) == "");
  // The last document: positions 4 and 5 of all. Weights are rounded to 2^-24 a few times.
  const auto last = [](const auto& x) {
    const auto some = dimwise::relabel<packed, seq>(dimwise::slice<packed>(dimwise::plain(x), 4, 2));
    return tensor<float, four_heads, seq, key>(
        dimwise::relabel<packed_key, key>(dimwise::slice<packed_key>(some, 4, 2)));
  };
  const tensor<float, four_heads, seq, key> alone =
      dimwise::plain(dimwise::softmax<key>(biased(last(s), dimwise::alibi<seq, key, four_heads>{})));
  CHECK(differ(alone, last(before), float32(32)) == "");
}

TEST_CASE("origins too far away to count on from, and distances without a choice, are refused") {
  constexpr std::ptrdiff_t far = std::numeric_limits<std::ptrdiff_t>::max();
  CHECK(thrown<dimwise::origin_error>([] { (void)dimwise::starting_at(seq{2}, far - 1); }).find("seq") !=
        std::string::npos);
  CHECK(thrown<dimwise::origin_error>([] { (void)dimwise::starting_at(seq{2}, -far); }).find("beyond") !=
        std::string::npos);
  CHECK(dimwise::starting_at(seq{2}, far / 8).origin() == far / 8);
  CHECK(thrown<dimwise::extent_error>([] {
    (void)dimwise::relative_ids<seq, key, distance>(seq{2}, key{2}, distance{0});
  }).find("distance") != std::string::npos);
}
