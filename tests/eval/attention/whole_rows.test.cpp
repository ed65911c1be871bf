// tests/eval/attention/whole_rows.test.cpp -- masks of whole rows, several given masks, and keys behind a prefix,
// in every way to attend.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::allow;
using dimwise::causal;
using dimwise::concat;
using dimwise::contract;
using dimwise::masked;
using dimwise::padding;
using dimwise::plan_kind;
using dimwise::plans_run;
using dimwise::reference;
using dimwise::scores;
using dimwise::softmax;
using dimwise::starting_at;
using dimwise::summed;
using dimwise::tensor;
using dimwise::whole_rows;
using dimwise::window;

struct learned : dimwise::position_dim<> {};

using visibility = std::function<bool(std::size_t b, std::size_t i, std::size_t j)>;

// Scores of magnitude <= 2 err by 10 roundings; the weights sum to 1, so that n of them add at most n more.
double roundings(std::size_t n) { return 20 + static_cast<double>(n); }

// softmax(q·k/√4, masked) · v of [batch, seq, heads, d_k], [batch, key, heads, d_k], [batch, key, heads, d_v]: by the
// fused kernel where `kind` says so, in float64, and against the formula.
template <class Mask, class Q, class K, class V>
void check(const Q& q, const K& k, const V& v, const Mask& m, plan_kind kind, const visibility& visible) {
  using keys = dimwise::detail::element_t<1, dimwise::detail::dims_t<typename K::shape_type>>;
  const std::size_t n = dimwise::extent_of<keys>(k);
  const auto expected = [&](auto b, auto h, auto i, auto d) {
    double total = 0;
    double sum = 0;
    for (std::size_t j = 0; j < n; ++j) {
      if (!visible(b, i, j)) { continue; }
      const double w = std::exp(sum_of(4, [&](auto e) { return double{el(q, b, i, h, e)} * el(k, b, j, h, e); }) / 2);
      total += w;
      sum += w * el(v, b, j, h, d);
    }
    return total == 0 ? 0 : sum / total;
  };
  const auto attention = contract<keys>(softmax<keys>(masked(scores<d_k>(q, k), m)), v);
  const auto before = plans_run();
  const tensor y = attention;
  CHECK(plans_run()[kind] - before[kind] == 1);
  CHECK(plans_run()[plan_kind::plain] - before[plan_kind::plain] == 0);
  const std::array<std::size_t, 4> extents{2, 3, extents_of(q)[1], 4};
  CHECK(differences(y, extents, float32(roundings(n)), expected) == "");
  CHECK(differences(reference(attention), extents, float64, expected) == "");
}
template <class Mask>
void check_keys(std::size_t queries, std::size_t keys, const Mask& m, plan_kind kind, const visibility& visible) {
  check(drawn<tensor<float, batch, seq, heads, d_k>>(1, batch{2}, seq{queries}),
        drawn<tensor<float, batch, key, heads, d_k>>(2, batch{2}, key{keys}),
        drawn<tensor<float, batch, key, heads, d_v>>(3, batch{2}, key{keys}), m, kind, visible);
}

}  // namespace

TEST_CASE("whole_rows: tokens that see everything, queries that see nothing, fused and in decode") {
  for (const std::size_t n : counts{7, 150}) {
    const auto global = drawn<tensor<bool, seq>>(4, seq{n});
    check_keys(n, n, window<seq, key>{1, 1} | whole_rows(allow(global)), plan_kind::attention,
               [&](auto, auto i, auto j) { return el(global, i) || (i <= j + 1 && j <= i + 1); });
    check_keys(n, n, causal<seq, key>{} & whole_rows(allow(global)), plan_kind::attention,
               [&](auto, auto i, auto j) { return el(global, i) && j <= i; });
    check_keys(n, n, whole_rows(allow(global)), plan_kind::attention,
               [&](auto, auto i, auto) { return el(global, i); });
    const tensor<int, batch> lengths({3, static_cast<int>(n)}, batch{2});
    const auto inside = [&](auto b, auto i) { return i < static_cast<std::size_t>(el(lengths, b)); };
    check_keys(n, n, whole_rows(padding<seq>(lengths)) & padding<key>(lengths), plan_kind::attention,
               [&](auto b, auto i, auto j) { return inside(b, i) && inside(b, j); });
    check_keys(n, n, padding<key>(lengths) & !whole_rows(padding<seq>(lengths)), plan_kind::attention,
               [&](auto b, auto i, auto j) { return !inside(b, i) && inside(b, j); });
    const auto pairs = drawn<tensor<bool, batch, key, seq>>(5, batch{2}, key{n}, seq{n});
    check_keys(n, n, whole_rows(allow(global)) & allow(pairs) & causal<seq, key>{}, plan_kind::attention,
               [&](auto b, auto i, auto j) { return el(global, i) && el(pairs, b, j, i) && j <= i; });
  }
  const auto few = drawn<tensor<bool, seq>>(6, seq{2});
  check_keys(2, 300, whole_rows(allow(few)), plan_kind::decode, [&](auto, auto i, auto) { return el(few, i); });
  const tensor<int, batch> lengths({1, 2}, batch{2});
  check_keys(2, 300, whole_rows(padding<seq>(lengths)) & padding<key>(tensor<int, batch>({200, 0}, batch{2})),
             plan_kind::decode,
             [&](auto b, auto i, auto j) { return i < static_cast<std::size_t>(el(lengths, b)) && b == 0 && j < 200; });
}

TEST_CASE("whole_rows: of two sequences, of a reduction, and as an indicator") {
  const auto q = drawn<tensor<float, batch, seq, heads, d_k>>(7, batch{2}, seq{6});
  const auto k = drawn<tensor<float, batch, source, heads, d_k>>(8, batch{2}, source{5});
  const auto v = drawn<tensor<float, batch, source, heads, d_v>>(9, batch{2}, source{5});
  const tensor<int, batch> written({6, 2}, batch{2});
  const tensor<int, batch> read({3, 5}, batch{2});
  check(q, k, v, whole_rows(padding<seq>(written)) & padding<source>(read), plan_kind::attention,
        [&](auto b, auto i, auto j) {
    return i < static_cast<std::size_t>(el(written, b)) && j < static_cast<std::size_t>(el(read, b));
  });
  const auto x = drawn<tensor<float, batch, seq>>(10, batch{2}, seq{3});
  const tensor<bool, batch> some({true, false}, batch{2});
  CHECK(agrees(dimwise::sum<seq>(x, whole_rows(allow(some))), {2}, 3,
               [&](auto b) { return b == 0 ? sum_of(3, [&](auto s) { return el(x, 0, s); }) : 0.0; }) == "");
  CHECK(differences(tensor<bool, batch>(dimwise::indicator<bool>(whole_rows(allow(some)))), {2}, 0,
                    [](auto b) { return b == 0; }) == "");
  CHECK(dimwise::explain(masked(x, whole_rows(allow(some)))).text().find("whole rows of a given mask over batch") !=
        std::string::npos);
}

TEST_CASE("indicator: as bool it is a mask again, and what where takes") {
  const auto s = drawn<tensor<float, seq, key>>(11, seq{3}, key{3});
  const auto lower = dimwise::indicator<bool>(causal<seq, key>{}, seq{3}, key{3});
  const tensor<bool, seq, key> stored = lower;
  CHECK(differences(stored, {3, 3}, 0, [](auto i, auto j) { return j <= i; }) == "");
  const tensor by_position = softmax<key>(masked(s, causal<seq, key>{}));
  const tensor by_elements = softmax<key>(masked(s, allow(lower)));
  CHECK(differ(by_elements, by_position) == "");
  CHECK(differences(tensor<float, seq, key>(dimwise::where(allow(lower), s, 0.0F)), {3, 3}, 0,
                    [&](auto i, auto j) { return j <= i ? el(s, i, j) : 0.0F; }) == "");
}

TEST_CASE("causal over a sum: what stands in front of the keys is before all positions") {
  using keys = summed<learned, key>;
  for (const std::size_t n : counts{1, 6, 140}) {
    for (const std::size_t p : counts{0, 1, 5}) {
      const auto q = drawn<tensor<float, batch, seq, heads, d_k>>(12, batch{2}, seq{n});
      const auto k = tensor(concat<keys>(drawn<tensor<float, batch, learned, heads, d_k>>(13, batch{2}, learned{p}),
                                         drawn<tensor<float, batch, key, heads, d_k>>(14, batch{2}, key{n})));
      const auto v = tensor(concat<keys>(drawn<tensor<float, batch, learned, heads, d_v>>(15, batch{2}, learned{p}),
                                         drawn<tensor<float, batch, key, heads, d_v>>(16, batch{2}, key{n})));
      check(q, k, v, causal<seq, keys>{}, n < 5 ? plan_kind::decode : plan_kind::attention,
            [&](auto, auto i, auto j) { return j < p || j - p <= i; });
      // A step of a decoder, and queries that stand before all keys.
      for (const std::ptrdiff_t first : {std::ptrdiff_t{3}, std::ptrdiff_t{-1}, std::ptrdiff_t{-4}}) {
        check(q, k, v, causal<seq, keys>{starting_at(seq{n}, first), key{n}},
              n < 5 ? plan_kind::decode : plan_kind::attention, [&](auto, auto i, auto j) {
          return j < p || static_cast<std::ptrdiff_t>(j - p) <= static_cast<std::ptrdiff_t>(i) + first;
        });
      }
    }
  }
  const auto q = drawn<tensor<float, seq, d_k>>(17, seq{2});
  const auto k = drawn<tensor<float, summed<learned, key>, d_k>>(18, learned{1}, key{3});
  CHECK(thrown<dimwise::origin_error>([&] { (void)masked(scores<d_k>(q, k), causal<seq, keys>{}); }) ==
        "masked: seq has extent 2 and key has extent 3; say where they begin with starting_at (R7)");
  CHECK(differences(tensor<bool, seq, keys>(dimwise::indicator<bool>(causal<seq, keys>{}, seq{2}, learned{1}, key{2})),
                    {2, 3}, 0, [](auto i, auto j) { return j <= i + 1; }) == "");
}

TEST_CASE("a mask of one part of the keys: the other part stays visible, fused and in decode") {
  using keys = summed<learned, key>;
  const std::size_t p = 5;
  for (const std::size_t n : counts{1, 9, 130}) {
    for (const std::size_t queries : counts{1, n}) {
      CAPTURE(n);
      CAPTURE(queries);
      const auto first = static_cast<std::ptrdiff_t>(n - queries);
      const plan_kind kind = queries < 5 ? plan_kind::decode : plan_kind::attention;
      const auto q = drawn<tensor<float, batch, seq, heads, d_k>>(1, batch{2}, starting_at(seq{queries}, first));
      const auto k = tensor(concat<keys>(drawn<tensor<float, batch, learned, heads, d_k>>(13, batch{2}, learned{p}),
                                         drawn<tensor<float, batch, key, heads, d_k>>(14, batch{2}, key{n})));
      const auto v = tensor(concat<keys>(drawn<tensor<float, batch, learned, heads, d_v>>(15, batch{2}, learned{p}),
                                         drawn<tensor<float, batch, key, heads, d_v>>(16, batch{2}, key{n})));
      const tensor<int, batch> lengths({2, 5}, batch{2});
      const auto of_memory = [&](auto b, auto j) { return static_cast<int>(j) < el(lengths, b) || j >= p; };
      check(q, k, v, padding<learned>(lengths), kind, [&](auto b, auto, auto j) { return of_memory(b, j); });
      const auto chosen = drawn<tensor<bool, batch, seq, key>>(17, batch{2}, starting_at(seq{queries}, first), key{n});
      check(q, k, v, allow(chosen), kind, [&](auto b, auto i, auto j) { return j < p || el(chosen, b, i, j - p); });
      check(q, k, v, !padding<learned>(lengths), kind,
            [&](auto b, auto, auto j) { return j >= p || static_cast<int>(j) >= el(lengths, b); });
      check(q, k, v, causal<seq, key>(starting_at(seq{queries}, first), starting_at(key{n}, 0)), kind,
            [&](auto, auto i, auto j) { return j < p || j - p <= i + n - queries; });
    }
  }
}

TEST_CASE("a mask of one part: what it hides has no effect, reductions count the other part, masks follow each other") {
  using keys = summed<learned, key>;
  const auto q = drawn<tensor<float, seq, d_k>>(1, seq{3});
  auto k = drawn<tensor<float, keys, d_k>>(2, learned{2}, key{3});
  const auto s = scores<d_k>(q, k);
  const auto m = allow(tensor<bool, learned>({true, false}, learned{2}));
  const tensor weights = softmax<keys>(masked(masked(s, m), causal<seq, key>{}));
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(el(weights, i, 0) > 0);
    CHECK(el(weights, i, 1) == 0);
    for (std::size_t j = 0; j < 3; ++j) { CHECK((el(weights, i, 2 + j) > 0) == (j <= i)); }
  }
  const tensor<float, keys> x({1, NAN, 3, 4, 5}, learned{2}, key{3});
  CHECK(dimwise::evaluate(dimwise::sum<keys>(x, m))() == 13);
  CHECK(dimwise::evaluate(dimwise::max<keys>(masked(x, m)))() == 5);
  CHECK(dimwise::explain(masked(x, m)).text().find("of the part learned") != std::string::npos);
}
