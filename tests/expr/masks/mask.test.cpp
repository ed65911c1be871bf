// tests/expr/masks/mask.test.cpp -- what each mask allows, and how masks combine.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::allow;
using dimwise::allow_of;
using dimwise::block;
using dimwise::causal;
using dimwise::indicator;
using dimwise::masked;
using dimwise::padding;
using dimwise::prefix;
using dimwise::softmax;
using dimwise::starting_at;
using dimwise::tensor;
using dimwise::window;

// Where `m` allows what among `s` × `t` positions, from origins, as 0 and 1.
template <class M, class F>
std::string allows(const M& m, const seq& s, const key& t, F visible) {
  const tensor<float, seq, key> seen = indicator(m, s, t);
  return differences(seen, {s.extent(), t.extent()}, 0, [&](auto i, auto j) {
    return visible(static_cast<std::ptrdiff_t>(i) + s.origin(), static_cast<std::ptrdiff_t>(j) + t.origin()) ? 1.0
                                                                                                             : 0.0;
  });
}

}  // namespace

TEST_CASE("causal: equal extents, and different ones with origins") {
  const auto visible = [](auto i, auto j) { return j <= i; };
  for (const std::size_t n : counts{0, 1, 5}) { CHECK(allows(causal<seq, key>{}, seq{n}, key{n}, visible) == ""); }
  CHECK(allows(causal<seq, key>{}, starting_at(seq{1}, 4), key{5}, visible) == "");
  CHECK(allows(causal<seq, key>{}, starting_at(seq{2}, 3), key{5}, visible) == "");
  // Keys that said where they are, as those of a cache, and fewer queries that did not.
  const tensor<float, seq> query(seq{1});
  const tensor<float, key> held(starting_at(key{5}, 0)), part(starting_at(key{3}, 4));
  CHECK_THROWS_AS(static_cast<void>(masked(dimwise::outer(query, held), causal<seq, key>{})), dimwise::origin_error);
  CHECK_THROWS_AS(static_cast<void>(masked(dimwise::outer(query, part), window<seq, key>{1, 1})),
                  dimwise::origin_error);
  CHECK_NOTHROW(static_cast<void>(masked(dimwise::outer(tensor<float, seq>(seq{7}), part), causal<seq, key>{})));
  CHECK(allows(causal<seq, key>{}, seq{4}, starting_at(key{3}, 1), visible) == "");
  CHECK(allows(causal<seq, key>{}, starting_at(seq{3}, 5), starting_at(key{3}, 2), visible) == "");
  CHECK(allows(causal<seq, key>{}, starting_at(seq{3}, -2), starting_at(key{4}, -1), visible) == "");
}

TEST_CASE("causal: origins said with the mask, also between unrelated dimensions") {
  const causal<seq, key> m{starting_at(seq{2}, 3), key{5}};
  CHECK(allows(m, seq{2}, key{5}, [](auto i, auto j) { return j <= i + 3; }) == "");
  const tensor<float, seq, source> seen =
      indicator(causal<seq, source>{seq{3}, starting_at(source{4}, 1)}, seq{3}, source{4});
  CHECK(differences(seen, {3, 4}, 0, [](auto i, auto j) { return j + 1 <= i ? 1 : 0; }) == "");
  const tensor<float, four, four_keys> fixed = indicator(causal<four, four_keys>{});
  CHECK(differences(fixed, {4, 4}, 0, [](auto i, auto j) { return j <= i ? 1 : 0; }) == "");
}

TEST_CASE("causal: the origins that slices and extents carry reach the mask") {
  const auto x = drawn<tensor<float, seq, d_k>>(1, seq{6});
  const auto k = dimwise::rename<seq, key>(x);
  const auto last = dimwise::slice<seq>(x, 4, 2);
  const tensor<float, seq, key> p =
      dimwise::plain(softmax<key>(masked(dimwise::scores<d_k>(last, k), causal<seq, key>{})));
  CHECK(differences(p, {2, 6}, float32(20), [&](auto i, auto j) {
    const auto e = [&](auto t) {
      return std::exp(sum_of(4, [&](auto d) { return double{el(x, i + 4, d)} * el(x, t, d); }) / 2);
    };
    return j <= i + 4 ? e(j) / sum_of(i + 5, e) : 0;
  }) == "");
}

TEST_CASE("window: to both sides, one side, and around origins") {
  for (const std::ptrdiff_t left : {-1, 0, 2}) {
    for (const std::ptrdiff_t right : {-1, 0, 1}) {
      const auto visible = [=](auto i, auto j) { return (left < 0 || j >= i - left) && (right < 0 || j <= i + right); };
      CHECK(allows(window<seq, key>(left, right), seq{6}, key{6}, visible) == "");
      CHECK(allows(window<seq, key>(left, right), starting_at(seq{2}, 4), key{6}, visible) == "");
      const window<seq, key> said(left, right, starting_at(seq{2}, 4), key{6});
      CHECK(allows(said, seq{2}, key{6}, [=](auto i, auto j) { return visible(i + 4, j); }) == "");
    }
  }
}

TEST_CASE("prefix: visible to all, the rest as in causal") {
  for (const std::ptrdiff_t n : {0, 1, 3, 9}) {
    const auto visible = [=](auto i, auto j) { return j < n || j <= i; };
    CHECK(allows(prefix<seq, key>(n), seq{5}, key{5}, visible) == "");
    CHECK(allows(prefix<seq, key>(n), starting_at(seq{2}, 3), key{5}, visible) == "");
  }
}

TEST_CASE("padding: one length for all, or one for each sequence and head") {
  for (const std::size_t n : counts{0, 2, 5}) {
    const tensor<float, key> seen = indicator(padding<key>(n), key{5});
    CHECK(differences(seen, {5}, 0, [&](auto j) { return j < n ? 1 : 0; }) == "");
  }
  const tensor<int, heads, batch> lengths({0, 5, 3, 1, 2, 4}, batch{2});
  const tensor<float, heads, batch, key> seen = indicator(padding<key>(lengths), batch{2}, key{5});
  CHECK(differences(seen, {3, 2, 5}, 0,
                    [&](auto h, auto b, auto j) { return static_cast<int>(j) < el(lengths, h, b) ? 1 : 0; }) == "");
}

TEST_CASE("given masks: allow, block, and their polarity") {
  const auto given = drawn<tensor<bool, key, batch, seq>>(2, key{4}, batch{2}, seq{3});
  const tensor<float, key, batch, seq> seen = indicator(allow(given), key{4}, batch{2}, seq{3});
  CHECK(differences(seen, {4, 2, 3}, 0, [&](auto j, auto b, auto i) { return el(given, j, b, i); }) == "");
  const tensor<float, key, batch, seq> rest = indicator(allow_of(block(given)), key{4}, batch{2}, seq{3});
  CHECK(differences(rest, {4, 2, 3}, 0, [&](auto j, auto b, auto i) { return !el(given, j, b, i); }) == "");
  const tensor<float, key, batch, seq> from_view = indicator(allow(scattered(given).view()), key{4}, batch{2}, seq{3});
  CHECK(differences(from_view, {4, 2, 3}, 0, [&](auto j, auto b, auto i) { return el(given, j, b, i); }) == "");
  const auto x = drawn<tensor<float, seq, key>>(3, seq{3}, key{4});
  const tensor<float, seq, key> computed =
      indicator(allow(dimwise::map([](auto v) { return v > 0.25; }, x)), seq{3}, key{4});
  CHECK(differences(computed, {3, 4}, 0, [&](auto i, auto j) { return el(x, i, j) > 0.25F; }) == "");
}

TEST_CASE("masks combine: and, or, not, nested, over different dimensions") {
  const auto given = drawn<tensor<bool, key, seq>>(4, key{5}, seq{5});
  const auto g = [&](auto i, auto j) { return el(given, j, i); };
  const causal<seq, key> c;
  const window<seq, key> w(1, 1);
  const auto in_c = [](auto i, auto j) { return j <= i; };
  const auto in_w = [](auto i, auto j) { return j >= i - 1 && j <= i + 1; };
  const seq s{5};
  const key t{5};
  CHECK(allows(c & w, s, t, [&](auto i, auto j) { return in_c(i, j) && in_w(i, j); }) == "");
  CHECK(allows(c | w, s, t, [&](auto i, auto j) { return in_c(i, j) || in_w(i, j); }) == "");
  CHECK(allows(!c, s, t, [&](auto i, auto j) { return !in_c(i, j); }) == "");
  CHECK(allows(!!c, s, t, in_c) == "");
  CHECK(allows((!(c & !w)) | (w & c), s, t,
               [&](auto i, auto j) { return !(in_c(i, j) && !in_w(i, j)) || (in_w(i, j) && in_c(i, j)); }) == "");
  CHECK(allows(c & allow(given), s, t, [&](auto i, auto j) { return in_c(i, j) && g(i, j); }) == "");
  CHECK(allows(c | allow_of(block(given)), s, t, [&](auto i, auto j) { return in_c(i, j) || !g(i, j); }) == "");
  CHECK(allows(c & padding<key>(3), s, t, [&](auto i, auto j) { return in_c(i, j) && j < 3; }) == "");
  CHECK(allows((!padding<key>(3)) | c, s, t, [&](auto i, auto j) { return in_c(i, j) || j >= 3; }) == "");
  const tensor<int, batch> lengths({2, 4}, batch{2});
  const tensor<float, batch, key, seq> wide = indicator(padding<key>(lengths) & allow(given), batch{2}, s, t);
  CHECK(differences(wide, {2, 5, 5}, 0,
                    [&](auto b, auto j, auto i) { return g(i, j) && static_cast<int>(j) < el(lengths, b); }) == "");
}

TEST_CASE("indicator: of truth values and whole numbers, also inside another expression") {
  const auto x = drawn<tensor<float, seq, key>>(8, seq{3}, key{3});
  const auto lower = causal<seq, key>{};
  const tensor<float, seq, key> kept = dimwise::map([](float v, bool visible) { return visible ? v : -1.0F; }, x,
                                                    indicator<bool>(lower, seq{3}, key{3}));
  CHECK(differences(kept, {3, 3}, 0, [&](auto i, auto j) { return j <= i ? double{el(x, i, j)} : -1.0; }) == "");
  const tensor<int, seq, key> ones = indicator<int>(!lower, seq{3}, key{3}) * 2;
  CHECK(differences(ones, {3, 3}, 0, [](auto i, auto j) { return j <= i ? 0.0 : 2.0; }) == "");
}

TEST_CASE("document: positions of a packed dimension see their own document only") {
  struct packed : dimwise::packed_dim<> {
    using dimwise::packed_dim<>::packed_dim;
  };
  struct packed_key : dimwise::prime<packed> {
    using dimwise::prime<packed>::prime;
  };
  const int of[] = {0, 0, 0, 2, 2, 3};  // the second document is empty
  const tensor<float, packed, packed_key> seen =
      indicator(dimwise::document<packed, packed_key>{}, packed{{3, 0, 2, 1}}, packed_key{{3, 0, 2, 1}});
  CHECK(differences(seen, {6, 6}, 0, [&](auto i, auto j) { return of[i] == of[j]; }) == "");
  const tensor<float, packed, packed_key> both =
      indicator(dimwise::document<packed, packed_key>{} & causal<packed, packed_key>{}, packed{{3, 0, 2, 1}},
                packed_key{{3, 0, 2, 1}});
  CHECK(differences(both, {6, 6}, 0, [&](auto i, auto j) { return of[i] == of[j] && j <= i; }) == "");
  // Positions are compared between documents of the same lengths: totals that agree are not enough (R7).
  const auto own = causal<packed, packed_key>{} & dimwise::document<packed, packed_key>{};
  CHECK(thrown<dimwise::origin_error>([&] { (void)indicator(own, packed{{3, 4}}, packed_key{{4, 3}}); }) ==
        "indicator: document 0 has 3 positions of packed and 4 of packed_key; positions are compared between documents "
        "of the same lengths (R7)");
  CHECK(thrown<dimwise::origin_error>([&] { (void)indicator(own, packed{{3, 4}}, packed_key{{3, 3, 1}}); }) ==
        "indicator: packed has 2 documents and packed_key has 3; positions are compared between documents of the same "
        "lengths (R7)");
  CHECK_NOTHROW((void)indicator(dimwise::document<packed, packed_key>{}, packed{{3, 4}}, packed_key{{4, 4}}));
}
