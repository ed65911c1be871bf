// tests/nn/linear.test.cpp -- linear, norms, feed-forward, embeddings: against loops in double.
// SPDX-License-Identifier: BSL-1.0
#include "modules.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace modules {

const auto x = drawn<tensor<float, batch, seq, d_model>>(1, batch{2}, seq{3});

TEST_CASE("linear: from one dimension to two, from two to one, and onto itself") {
  const auto up = drawn_module<nn::linear<nn::from<d_model>, nn::to<heads, d_k>>>(2);
  const auto back = drawn_module<nn::linear<nn::from<heads, d_k>, nn::to<d_model>>>(4);
  const auto square = drawn_module<nn::linear<nn::from<d_model>, nn::to<d_model>>>(6);
  const auto bare = drawn_module<nn::linear<nn::from<d_model>, nn::to<hidden>, nn::no_bias>>(8);
  const auto in = [&](auto b, auto s, const auto& w, auto... j) {
    return sum_of(8, [&](auto i) { return double{el(x, b, s, i)} * el(w, i, j...); });
  };
  CHECK(module_agrees([&] { return up(x); }, {2, 3, 2, 4}, 30, [&](auto b, auto s, auto h, auto d) {
    return in(b, s, up.weight, h, d) + el(up.bias, h, d);
  }) == "");
  CHECK(module_agrees([&] { return square(x); }, {2, 3, 8}, 30,
                      [&](auto b, auto s, auto i) { return in(b, s, square.weight, i) + el(square.bias, i); }) == "");
  CHECK(module_agrees([&] { return bare(x); }, {2, 3, 12}, 30,
                      [&](auto b, auto s, auto i) { return in(b, s, bare.weight, i); }) == "");
  const tensor<float, batch, seq, heads, d_k> q = up(x);
  CHECK(module_agrees([&] { return back(q); }, {2, 3, 8}, 30, [&](auto b, auto s, auto i) {
    return sum_of(2, [&](auto h) {
      return sum_of(4, [&](auto d) { return double{el(q, b, s, h, d)} * el(back.weight, h, d, i); });
    }) + el(back.bias, i);
  }) == "");
  static_assert(std::is_same_v<decltype(square.weight), tensor<float, d_model, out<d_model>>>);
  static_assert(std::is_same_v<decltype(square(x)), tensor<float, batch, seq, d_model>>);
  nn::linear<nn::from<d_model>, nn::to<out<d_model>>> said;  // the same, with the output side said
  static_assert(std::is_same_v<decltype(said.bias), tensor<float, d_model>>);
  said.weight = square.weight;
  said.bias = square.bias;
  const tensor by_name = said(x);
  const tensor by_default = square(x);
  CHECK(std::ranges::equal(by_name.values(), by_default.values()));
}

TEST_CASE("norms have a scale for every feature") {
  const auto layer = drawn_module<nn::layer_norm<d_model>>(10);
  const auto rms = drawn_module<nn::rms_norm<d_model>>(12);
  const auto mean_of = [&](auto b, auto s) { return sum_of(8, [&](auto i) { return double{el(x, b, s, i)}; }) / 8; };
  CHECK(module_agrees([&] { return layer(x); }, {2, 3, 8}, 60, [&](auto b, auto s, auto i) {
    const double average = mean_of(b, s);
    const double variance = sum_of(8, [&](auto j) { return std::pow(el(x, b, s, j) - average, 2); }) / 8;
    return (el(x, b, s, i) - average) / std::sqrt(variance + 1e-5) * el(layer.gamma, i) + el(layer.beta, i);
  }) == "");
  CHECK(module_agrees([&] { return rms(x); }, {2, 3, 8}, 60, [&](auto b, auto s, auto i) {
    return el(x, b, s, i) /
           std::sqrt(sum_of(8, [&](auto j) { return std::pow(double{el(x, b, s, j)}, 2); }) / 8 + 1e-6) *
           el(rms.gamma, i);
  }) == "");
}

TEST_CASE("feed-forward, plain and gated") {
  const auto plain = drawn_module<nn::feed_forward<d_model, hidden>>(14);
  const auto gated = drawn_module<nn::gated_feed_forward<d_model, hidden>>(18);
  const auto in = [&](auto b, auto s, const auto& w, auto j) {
    return sum_of(8, [&](auto i) { return double{el(x, b, s, i)} * el(w, i, j); });
  };
  CHECK(module_agrees([&] { return plain(x); }, {2, 3, 8}, 80, [&](auto b, auto s, auto i) {
    return sum_of(12, [&](auto h) {
      return std::max(0.0, in(b, s, plain.up.weight, h) + el(plain.up.bias, h)) * el(plain.down.weight, h, i);
    }) + el(plain.down.bias, i);
  }) == "");
  CHECK(module_agrees([&] { return gated(x); }, {2, 3, 8}, 80, [&](auto b, auto s, auto i) {
    return sum_of(12, [&](auto h) {
      const double g = in(b, s, gated.gate.weight, h);
      return g / (1 + std::exp(-g)) * in(b, s, gated.up.weight, h) * el(gated.down.weight, h, i);
    });
  }) == "");
}

TEST_CASE("embedding: words in as ids or one-hot, and out by the same table") {
  const auto words = drawn_module<nn::embedding<vocab, d_model>>(22);
  const auto ids = drawn_ids<tensor<id<vocab>, batch, seq>>(23, 7, batch{2}, seq{3});
  tensor<float, batch, seq, vocab> one_hot(batch{2}, seq{3});
  for (std::size_t b = 0; b < 2; ++b) {
    for (std::size_t s = 0; s < 3; ++s) { one_hot.set(1, id<batch>(b), id<seq>(s), el(ids, b, s)); }
  }
  const auto row = [&](auto b, auto s, auto i) { return double{el(words.table, el(ids, b, s).value, i)}; };
  CHECK(module_agrees([&] { return words(ids); }, {2, 3, 8}, 0, row) == "");
  CHECK(module_agrees([&] { return words(one_hot); }, {2, 3, 8}, 0, row) == "");
  CHECK(module_agrees([&] { return words.logits(x); }, {2, 3, 7}, 30, [&](auto b, auto s, auto w) {
    return sum_of(8, [&](auto i) { return double{el(x, b, s, i)} * el(words.table, w, i); });
  }) == "");
  tensor<id<vocab>, seq> unknown(seq{1});
  unknown.set(id<vocab>(7), id<seq>(0));
  CHECK(thrown<index_error>([&] { (void)words(unknown); }).find("vocab") != std::string::npos);
}

TEST_CASE("learned positions start at the origin, and end with the table") {
  nn::learned_positions<seq, d_model> places{drawn<tensor<float, seq, d_model>>(24, seq{5})};
  const auto later = drawn<tensor<float, batch, seq, d_model>>(1, batch{2}, starting_at(seq{3}, 2));
  CHECK(module_agrees([&] { return places(later); }, {2, 3, 8}, 1, [&](auto b, auto s, auto i) {
    return double{el(x, b, s, i)} + el(places.table, s + 2, i);
  }) == "");
  const auto beyond = drawn<tensor<float, seq, d_model>>(1, starting_at(seq{3}, 3));
  CHECK(thrown<index_error>([&] { (void)places(beyond); }) ==
        "learned_positions: positions 3 … 5 of dimension seq are asked of a table of 5");
}

TEST_CASE("learned positions at given positions: sequences that are padded on the left") {
  const nn::learned_positions<seq, d_model> places{drawn<tensor<float, seq, d_model>>(24, seq{6})};
  const tensor<bool, batch, seq> written({false, true, true, true, true, true}, batch{2}, seq{3});
  const tensor<int, batch, seq> positions = max(cumsum<seq>(where(written, 1, 0)) - 1, 0);
  const std::size_t row[2][3] = {{0, 0, 1}, {0, 1, 2}};
  const auto expected = [&](auto b, auto s, auto i) { return double{el(x, b, s, i)} + el(places.table, row[b][s], i); };
  CHECK(module_agrees([&] { return places(x, positions); }, {2, 3, 8}, 1, expected) == "");
  CHECK(module_agrees([&] { return places(x, max(cumsum<seq>(where(written, 1, 0)) - 1, 0)); }, {2, 3, 8}, 1,
                      expected) == "");
  const tensor<id<seq>, batch, seq> ids(std::vector<std::size_t>{0, 0, 1, 0, 1, 2}, batch{2}, seq{3});
  CHECK(module_agrees([&] { return places(x, ids); }, {2, 3, 8}, 1, expected) == "");
  // Positions of all sequences alike, in another order than that of x, and beyond the extent of x.
  const tensor<std::int64_t, seq> last({5, 0, 4}, seq{3});
  CHECK(module_agrees([&] { return places(x, last); }, {2, 3, 8}, 1, [&](auto b, auto s, auto i) {
    return double{el(x, b, s, i)} + el(places.table, std::size_t{s == 0 ? 5U : s == 1 ? 0U : 4U}, i);
  }) == "");
  static_assert(std::is_same_v<decltype(places(x, positions)), tensor<float, batch, seq, d_model>>);
  const tensor<int, seq> before({0, -1, 1}, seq{3});
  CHECK(thrown<index_error>([&] { (void)places(x, before); }) ==
        "learned_positions: position -1 of dimension seq is asked of a table of 6");
  const tensor<unsigned, seq> beyond({0, 6, 1}, seq{3});
  CHECK(thrown<index_error>([&] { (void)places(x, beyond); }) ==
        "learned_positions: position 6 of dimension seq is asked of a table of 6");
  const tensor<id<seq>, seq> unknown(std::vector<std::size_t>{0, 1, 7}, seq{3});
  CHECK(thrown<index_error>([&] { (void)places(x, unknown); }).find("id 7 is outside dimension seq") !=
        std::string::npos);
}

struct places_of_four : position_dim<4> {};
struct text : packed_dim<> {};

TEST_CASE("learned positions of a static extent start at 0, or throw") {
  nn::learned_positions<places_of_four, d_model> places{drawn<tensor<float, places_of_four, d_model>>(24)};
  const auto four = drawn<tensor<float, places_of_four, d_model>>(1);
  CHECK(module_agrees([&] { return places(four); }, {4, 8}, 1,
                      [&](auto s, auto i) { return double{el(four, s, i)} + el(places.table, s, i); }) == "");
  const auto later = drawn<tensor<float, places_of_four, d_model>>(1, starting_at(places_of_four{4}, 4));
  CHECK(thrown<index_error>([&] { (void)places(later); }) ==
        "learned_positions: positions 4 … 7 of dimension places_of_four are asked of a table of 4");
  const auto before = drawn<tensor<float, places_of_four, d_model>>(1, starting_at(places_of_four{4}, -1));
  CHECK(thrown<index_error>([&] { (void)places(before); }) ==
        "learned_positions: positions -1 … 2 of dimension places_of_four are asked of a table of 4");
}

TEST_CASE("learned positions of packed documents begin with each document") {
  nn::learned_positions<text, d_model> places{drawn<tensor<float, text, d_model>>(24, text{{5}})};
  const auto packed = drawn<tensor<float, batch, text, d_model>>(1, batch{2}, text{{3, 0, 5, 1}});
  const std::size_t row[] = {0, 1, 2, 0, 1, 2, 3, 4, 0};
  CHECK(module_agrees([&] { return places(packed); }, {2, 9, 8}, 1, [&](auto b, auto s, auto i) {
    return double{el(packed, b, s, i)} + el(places.table, row[s], i);
  }) == "");
  const tensor<int, text> backwards({2, 1, 0, 4, 3, 2, 1, 0, 0}, text{{3, 0, 5, 1}});
  CHECK(module_agrees([&] { return places(packed, backwards); }, {2, 9, 8}, 1, [&](auto b, auto s, auto i) {
    return double{el(packed, b, s, i)} + el(places.table, static_cast<std::size_t>(el(backwards, s)), i);
  }) == "");
  CHECK(places(packed).extents().template documents<text>() == packed.extents().documents<text>());
  const auto longer = drawn<tensor<float, text, d_model>>(1, text{{2, 6}});
  CHECK(thrown<index_error>([&] { (void)places(longer); }) ==
        "learned_positions: positions 0 … 5 of dimension text are asked of a table of 5");
}

}  // namespace modules
