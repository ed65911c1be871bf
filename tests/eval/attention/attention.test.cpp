// tests/eval/attention/attention.test.cpp -- the whole of attention in one expression against the formula in double.
//
// However the library evaluates it: softmax(q·k/√d, masked) · v, from the scalar path to fused kernels.
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::causal;
using dimwise::contract;
using dimwise::id;
using dimwise::masked;
using dimwise::scores;
using dimwise::softmax;
using dimwise::tensor;

using queries = tensor<float, batch, seq, heads, d_k>;
using keys = tensor<float, batch, key, heads, d_k>;
using values = tensor<float, batch, key, heads, d_v>;
using visibility = std::function<bool(std::size_t b, std::size_t h, std::size_t i, std::size_t j)>;

const visibility all_visible = [](auto, auto, auto, auto) { return true; };
const visibility lower_triangle = [](auto, auto, auto i, auto j) { return j <= i; };

// Row i of head h: Σ over visible j of softmax(q·k/√4) v; 0 where nothing is visible.
double attended(const queries& q, const keys& k, const values& v, const visibility& visible, std::size_t b,
                std::size_t h, std::size_t i, std::size_t d) {
  const std::size_t n = extents_of(k)[1];
  double total = 0;
  double sum = 0;
  for (std::size_t j = 0; j < n; ++j) {
    if (!visible(b, h, i, j)) { continue; }
    const double w = std::exp(sum_of(4, [&](auto e) { return double{el(q, b, i, h, e)} * el(k, b, j, h, e); }) / 2);
    total += w;
    sum += w * el(v, b, j, h, d);
  }
  return total == 0 ? 0 : sum / total;
}

// Scores of magnitude ≤ 2 err by 10 roundings; the weights sum to 1, so that n of them add at most n more.
double roundings(std::size_t n) { return 20 + static_cast<double>(n); }

template <class E>
std::string agrees_with(const E& e, const queries& q, const keys& k, const values& v, const visibility& visible) {
  const auto [b, s, h, d] = extents_of(q);
  return agrees(e, {b, h, s, d}, roundings(extents_of(k)[1]),
                [&](auto i, auto j, auto r, auto c) { return attended(q, k, v, visible, i, j, r, c); });
}

}  // namespace

TEST_CASE("attention: every extent, full and causal") {
  for (const std::size_t b : counts{1, 2}) {
    for (const std::size_t s : counts{0, 1, 2, 7, 33}) {
      for (const std::size_t t : counts{0, 1, 3, 40}) {
        CAPTURE(s);
        CAPTURE(t);
        const auto q = drawn<queries>(1, batch{b}, seq{s});
        const auto k = drawn<keys>(2, batch{b}, key{t});
        const auto v = drawn<values>(3, batch{b}, key{t});
        CHECK(agrees_with(contract<key>(softmax<key>(scores<d_k>(q, k)), v), q, k, v, all_visible) == "");
        const causal<seq, key> shifted{dimwise::starting_at(seq{s}, 2), key{t}};
        CHECK(agrees_with(contract<key>(softmax<key>(masked(scores<d_k>(q, k), shifted)), v), q, k, v,
                          [](auto, auto, auto i, auto j) { return j <= i + 2; }) == "");
      }
    }
  }
}

TEST_CASE("attention: operands and destination in any memory order, views of any stride") {
  const auto q = drawn<queries>(4, batch{2}, seq{5});
  const auto k = drawn<keys>(5, batch{2}, key{5});
  const auto v = drawn<values>(6, batch{2}, key{5});
  const auto weights = [&](const auto& x, const auto& y) {
    return softmax<key>(masked(scores<d_k>(x, y), causal<seq, key>{}));
  };
  const tensor<float, d_k, seq, batch, heads> q_turned = q;
  const tensor<float, heads, key, d_k, batch> k_turned = k;
  const tensor<float, key, heads, d_v, batch> v_turned = v;
  const auto expected = [&](auto b, auto h, auto i, auto d) { return attended(q, k, v, lower_triangle, b, h, i, d); };
  CHECK(agrees(dimwise::permute<batch, heads, seq, d_v>(contract<key>(weights(q_turned, k_turned), v_turned)),
               {2, 3, 5, 4}, roundings(5), expected) == "");
  CHECK(agrees(dimwise::permute<batch, heads, seq, d_v>(contract<key>(v, weights(q, k))), {2, 3, 5, 4}, roundings(5),
               expected) == "");  // values left
  CHECK(agrees_with(contract<key>(weights(scattered(q).view(), scattered(k).view()), scattered(v).view()), q, k, v,
                    lower_triangle) == "");
  const tensor<float, d_v, seq, heads, batch> y = contract<key>(weights(q, k), v);
  CHECK(differences(y, {4, 5, 3, 2}, float32(roundings(5)),
                    [&](auto d, auto i, auto h, auto b) { return expected(b, h, i, d); }) == "");
  std::vector<float> memory(2 * 5 * 3 * 4 * 2, -1.0F);
  dimwise::tensor_view<float, batch, seq, heads, d_v> view(memory.data(), dimwise::strides{2, 4, 20, 60}, batch{2},
                                                           seq{5});
  view = contract<key>(weights(q, k), v);
  for (std::size_t e = 0; e < 120; ++e) { CHECK(memory[2 * e + 1] == -1); }
  CHECK(differences(tensor<float, batch, heads, seq, d_v>(view), {2, 3, 5, 4}, float32(roundings(5)), expected) == "");
}

TEST_CASE("attention: masks of every kind, biases, and what is masked entirely") {
  const auto q = drawn<queries>(7, batch{2}, seq{6});
  const auto k = drawn<keys>(8, batch{2}, key{6});
  const auto v = drawn<values>(9, batch{2}, key{6});
  const auto s = scores<d_k>(q, k);
  const auto given = drawn<tensor<bool, seq, heads, key>>(10, seq{6}, key{6});
  const tensor<int, batch> lengths({4, 0}, batch{2});
  const auto output = [&](const auto& m) { return contract<key>(softmax<key>(masked(s, m)), v); };
  CHECK(agrees_with(output(dimwise::allow(given)), q, k, v,
                    [&](auto, auto h, auto i, auto j) { return el(given, i, h, j); }) == "");
  CHECK(agrees_with(output(dimwise::padding<key>(lengths)), q, k, v,
                    [&](auto b, auto, auto, auto j) { return static_cast<int>(j) < el(lengths, b); }) == "");
  CHECK(agrees_with(output(dimwise::padding<key>(lengths) & causal<seq, key>{}), q, k, v,
                    [&](auto b, auto, auto i, auto j) { return static_cast<int>(j) < el(lengths, b) && j <= i; }) ==
        "");
  CHECK(agrees_with(output(dimwise::window<seq, key>(1, 2)), q, k, v,
                    [](auto, auto, auto i, auto j) { return j + 1 >= i && j <= i + 2; }) == "");
  CHECK(agrees_with(output(dimwise::prefix<seq, key>(2)), q, k, v,
                    [](auto, auto, auto i, auto j) { return j < 2 || j <= i; }) == "");
  CHECK(agrees_with(output((!causal<seq, key>{}) | dimwise::allow_of(dimwise::block(given))), q, k, v,
                    [&](auto, auto h, auto i, auto j) { return j > i || !el(given, i, h, j); }) == "");
  // A bias of −30 is almost a mask, one of 0 none.
  tensor<float, seq, key> bias(seq{6}, key{6});
  for (std::size_t i = 0; i < 6; ++i) { bias.set(-30, id<seq>(i), id<key>(5)); }
  CHECK(agrees(contract<key>(softmax<key>(masked(dimwise::biased(s, bias), causal<seq, key>{})), v), {2, 3, 6, 4},
               roundings(6), [&](auto b, auto h, auto i, auto d) {
    const double open = attended(q, k, v, [](auto, auto, auto r, auto j) { return j <= r && j < 5; }, b, h, i, d);
    if (i < 5) { return open; }
    const auto e = [&](auto j) {
      return std::exp(sum_of(4, [&](auto c) { return double{el(q, b, i, h, c)} * el(k, b, j, h, c); }) / 2 -
                      (j == 5 ? 30 : 0));
    };
    const double sum = sum_of(6, e);
    return open * (sum - e(5)) / sum + e(5) / sum * el(v, b, 5, h, d);
  }) == "");
}

TEST_CASE("attention: NaN and infinities in masked slots of scores, keys and values have no effect") {
  const auto q = drawn<queries>(11, batch{1}, seq{4});
  const auto k = drawn<keys>(12, batch{1}, key{6});
  const auto v = drawn<values>(13, batch{1}, key{6});
  const auto padded = dimwise::padding<key>(4);
  const visibility visible = [](auto, auto, auto, auto j) { return j < 4; };
  for (const float poison : {not_a_number, infinite, -infinite, 3e38F}) {
    auto bad_k = k;
    auto bad_v = v;
    tensor<float, seq, key> bias(seq{4}, key{6});
    for (std::size_t h = 0; h < 3; ++h) {
      for (const std::size_t j : counts{4, 5}) {
        bad_k.set(poison, id<batch>(0), id<key>(j), id<heads>(h), id<d_k>(1));
        bad_v.set(poison, id<batch>(0), id<key>(j), id<heads>(h), id<d_v>(2));
      }
    }
    for (std::size_t i = 0; i < 4; ++i) { bias.set(poison, id<seq>(i), id<key>(5)); }
    CHECK(agrees_with(contract<key>(softmax<key>(masked(scores<d_k>(q, bad_k), padded)), bad_v), q, k, v, visible) ==
          "");
    CHECK(agrees_with(contract<key>(softmax<key>(masked(dimwise::biased(scores<d_k>(q, bad_k), bias), padded)), bad_v),
                      q, k, v, visible) == "");
    // Nothing visible at all: exactly 0.
    const tensor<float, batch, heads, seq, d_v> none =
        contract<key>(softmax<key>(masked(scores<d_k>(q, bad_k), dimwise::padding<key>(0))), bad_v);
    CHECK(differences(none, {1, 3, 4, 4}, 0, [](auto, auto, auto, auto) { return 0; }) == "");
    // The weights themselves, renamed or with other marks, keep values out, too.
    const auto weights = softmax<key>(masked(scores<d_k>(q, bad_k), padded));
    CHECK(agrees_with(contract<key>(dimwise::permute<batch, heads, seq, key>(weights), bad_v), q, k, v, visible) == "");
  }
}

TEST_CASE("attention: NaN in a visible slot reaches the rows that see it, and no others") {
  const auto q = drawn<queries>(14, batch{1}, seq{4});
  const auto k = drawn<keys>(15, batch{1}, key{4});
  const auto v = drawn<values>(16, batch{1}, key{4});
  const auto output = [&](const auto& x, const auto& y, const auto& z) -> tensor<float, batch, heads, seq, d_v> {
    return contract<key>(softmax<key>(masked(scores<d_k>(x, y), causal<seq, key>{})), z);
  };
  auto bad_k = k;
  bad_k.set(not_a_number, id<batch>(0), id<key>(2), id<heads>(1), id<d_k>(0));
  const auto expected = [&](auto b, auto h, auto i, auto d) {
    return h == 1 && i >= 2 ? double{not_a_number} : attended(q, k, v, lower_triangle, b, h, i, d);
  };
  CHECK(differences(output(q, bad_k, v), {1, 3, 4, 4}, float32(roundings(4)), expected) == "");
  auto bad_v = v;
  bad_v.set(not_a_number, id<batch>(0), id<key>(2), id<heads>(1), id<d_v>(3));
  CHECK(differences(output(q, k, bad_v), {1, 3, 4, 4}, float32(roundings(4)), [&](auto b, auto h, auto i, auto d) {
    return h == 1 && i >= 2 && d == 3 ? double{not_a_number} : attended(q, k, v, lower_triangle, b, h, i, d);
  }) == "");
  auto bad_q = q;
  bad_q.set(not_a_number, id<batch>(0), id<seq>(1), id<heads>(0), id<d_k>(0));
  CHECK(differences(output(bad_q, k, v), {1, 3, 4, 4}, float32(roundings(4)), [&](auto b, auto h, auto i, auto d) {
    return h == 0 && i == 1 ? double{not_a_number} : attended(q, k, v, lower_triangle, b, h, i, d);
  }) == "");
}

TEST_CASE("attention: scores up to 3e38 stay finite and pick the largest") {
  tensor<float, seq, d_k> q(seq{2});
  tensor<float, key, d_k> k(key{3});
  q.fill(1e19F);
  k.fill(0);
  k.set(3e19F, id<key>(1), id<d_k>(0));  // a score of 1.5e38
  const auto v = drawn<tensor<float, key, d_v>>(17, key{3});
  const tensor<float, seq, d_v> y = contract<key>(softmax<key>(scores<d_k>(q, k)), v);
  CHECK(differences(y, {2, 4}, 0, [&](auto, auto d) { return el(v, 1, d); }) == "");
  const auto s = drawn<tensor<float, seq, key>>(18, seq{2}, key{3}) * 0 + 3e38F;
  CHECK(differences(tensor<float, seq, d_v>(contract<key>(softmax<key>(s), v)), {2, 4}, float32(8),
                    [&](auto, auto d) { return (double{el(v, 0, d)} + el(v, 1, d) + el(v, 2, d)) / 3; }) == "");
}

TEST_CASE("attention: grouped heads, where keys and values lack the group") {
  struct group : dimwise::heads_dim<2> {};
  const auto q = drawn<tensor<float, batch, seq, heads, group, d_k>>(19, batch{2}, seq{4});
  const auto k = drawn<keys>(20, batch{2}, key{5});
  const auto v = drawn<values>(21, batch{2}, key{5});
  const auto y = contract<key>(softmax<key>(scores<d_k>(q, k)), v);
  CHECK(agrees(y, {2, 3, 4, 2, 4}, roundings(5), [&](auto b, auto h, auto i, auto g, auto d) {
    const auto e = [&](auto j) {
      return std::exp(sum_of(4, [&](auto c) { return double{el(q, b, i, h, g, c)} * el(k, b, j, h, c); }) / 2);
    };
    return sum_of(5, [&](auto j) { return e(j) * el(v, b, j, h, d); }) / sum_of(5, e);
  }) == "");
}

TEST_CASE("attention: from the sentence to the output, with all projections, in one expression") {
  const auto x = drawn<tensor<float, batch, seq, d_model>>(22, batch{2}, seq{4});
  const auto w_q = drawn<tensor<float, d_model, heads, d_k>>(23);
  const auto w_k = drawn<tensor<float, d_model, heads, d_k>>(24);
  const auto w_v = drawn<tensor<float, d_model, heads, d_v>>(25);
  const auto w_o = drawn<tensor<float, heads, d_v, d_model>>(26);
  const auto q = contract<d_model>(x, w_q);
  const auto k = dimwise::rename<seq, key>(contract<d_model>(x, w_k));
  const auto v = dimwise::rename<seq, key>(contract<d_model>(x, w_v));
  const auto a = softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{}));
  const auto y = contract<heads, d_v>(contract<key>(a, v), w_o);
  const auto project = [&](const auto& w, auto b, auto i, auto h, auto d) {
    return sum_of(12, [&](auto m) { return double{el(x, b, i, m)} * el(w, m, h, d); });
  };
  // Projections grow to a magnitude of 12, scores to 100: 24 roundings of those, and softmax passes score errors on.
  CHECK(agrees(y, {2, 4, 12}, 4000, [&](auto b, auto i, auto o) {
    return sum_of(3, [&](auto h) {
      const auto e = [&](auto j) {
        return std::exp(sum_of(4, [&](auto d) { return project(w_q, b, i, h, d) * project(w_k, b, j, h, d); }) / 2);
      };
      const double total = sum_of(i + 1, e);
      return sum_of(4, [&](auto d) {
        return sum_of(i + 1, [&](auto j) { return e(j) / total * project(w_v, b, j, h, d); }) * el(w_o, h, d, o);
      });
    });
  }) == "");
}
