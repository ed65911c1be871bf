// tests/expr/rearrange/ids.test.cpp -- ids_of, one_hot, scatter_add, and the ids of several dimensions.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::argmax;
using dimwise::gather;
using dimwise::id;
using dimwise::ids_of;
using dimwise::index_error;
using dimwise::merge;
using dimwise::merged;
using dimwise::one_hot;
using dimwise::scatter_add;
using dimwise::split_ids;
using dimwise::summed;
using dimwise::tensor;

struct beam : dimwise::dimension<dimwise::ability::parallel | dimwise::ability::choice> {};
struct two : dimwise::choice_dim<2> {};
struct three : dimwise::choice_dim<3> {};

}  // namespace

TEST_CASE("ids_of: all ids of a dimension, static, given, or a composite") {
  for (const std::size_t n : counts{0, 1, 5}) {
    const tensor<id<vocab>, vocab> all = ids_of<vocab>(vocab{n});
    CHECK(differences(all, {n}, 0, [](auto i) { return i; }) == "");
  }
  CHECK(differences(tensor<id<d_k>, d_k>(ids_of<d_k>()), {4}, 0, [](auto i) { return i; }) == "");
  using both = merged<batch, two>;
  const tensor<id<both>, both> pairs = ids_of<both>(batch{3});
  CHECK(differences(pairs, {6}, 0, [](auto i) { return i; }) == "");
  const tensor<id<both>, two, batch> apart = dimwise::split<batch, two>(ids_of<both>(batch{3}));
  CHECK(differences(apart, {2, 3}, 0, [](auto t, auto b) { return b * 2 + t; }) == "");
  CHECK(dimwise::describe(ids_of<seq>(dimwise::starting_at(seq{2}, 7))) == "seq[2 from position 7]");
  const auto x = drawn<tensor<float, seq, d_k>>(1, seq{4});
  CHECK(agrees(gather<seq>(x, dimwise::roll<seq>(ids_of<seq>(seq{4}), 1)), {4, 4}, 0,
               [&](auto i, auto d) { return el(x, (i + 3) % 4, d); }) == "");
}

TEST_CASE("one_hot: 1 where the id is, of any element type, and ids outside are refused") {
  for (const std::size_t n : counts{1, 4}) {
    const auto ids = drawn_ids<tensor<id<vocab>, batch, seq>>(2, n, batch{2}, seq{3});
    const auto expected = [&](auto b, auto s, auto v) { return el(ids, b, s).value == v ? 1.0 : 0.0; };
    CHECK(agrees(one_hot<vocab>(ids, vocab{n}), {2, 3, n}, 0, expected) == "");
    CHECK(agrees(one_hot<vocab>(scattered(ids).view(), vocab{n}), {2, 3, n}, 0, expected) == "");
    CHECK(differences(tensor<float, vocab, seq, batch>(one_hot<vocab>(ids, vocab{n})), {n, 3, 2}, 0,
                      [&](auto v, auto s, auto b) { return expected(b, s, v); }) == "");
    CHECK(differences(tensor<int, batch, seq, vocab>(one_hot<vocab, int>(ids, vocab{n})), {2, 3, n}, 0, expected) ==
          "");
    CHECK(differences(tensor<bool, batch, seq, vocab>(one_hot<vocab, bool>(ids, vocab{n})), {2, 3, n}, 0, expected) ==
          "");
  }
  const auto ids = drawn_ids<tensor<id<d_k>, seq>>(3, 4, seq{5});
  const auto table = drawn<tensor<float, d_k, d_v>>(4);
  const tensor<float, seq, d_v> taken = gather<d_k>(table, ids);
  CHECK(agrees(dimwise::contract<d_k>(one_hot<d_k>(ids), table), {5, 4}, 0,
               [&](auto s, auto d) { return el(taken, s, d); }) == "");
  const tensor<id<vocab>, seq> outside({id<vocab>(1), id<vocab>(4)}, seq{2});
  CHECK(thrown<index_error>([&] { (void)tensor(one_hot<vocab>(outside, vocab{4})); }) ==
        "one_hot: id 4 is outside dimension vocab of extent 4 (R18)");
}

TEST_CASE("scatter_add: the adjoint of gather, ids that repeat add") {
  const auto ids = drawn_ids<tensor<id<vocab>, batch, seq>>(5, 4, batch{2}, seq{5});
  const auto values = drawn<tensor<float, batch, seq, d_k>>(6, batch{2}, seq{5});
  const auto expected = [&](auto v, auto d) {
    return sum_of(2, [&](auto b) {
      return sum_of(5, [&](auto s) { return el(ids, b, s).value == v ? el(values, b, s, d) : 0.0; });
    });
  };
  CHECK(agrees(scatter_add<vocab, batch, seq>(values, ids, vocab{6}), {6, 4}, 10, expected) == "");
  CHECK(agrees(scatter_add<vocab, batch, seq>(scattered(values).view(), scattered(ids).view(), vocab{6}), {6, 4}, 10,
               expected) == "");
  CHECK(agrees(scatter_add<vocab, batch, seq>(tensor<float, d_k, seq, batch>(values), ids, vocab{6}), {6, 4}, 10,
               expected) == "");
  CHECK(differences(tensor<float, d_k, vocab>(scatter_add<vocab, batch, seq>(values, ids, vocab{6})), {4, 6},
                    float32(10), [&](auto d, auto v) { return expected(v, d); }) == "");
  // ⟨gather(t, i), x⟩ = ⟨t, scatter_add(x, i)⟩
  const auto table = drawn<tensor<float, vocab, d_k>>(7, vocab{6});
  const tensor left = dimwise::contract<batch, seq, d_k>(gather<vocab>(table, ids), values);
  const tensor right = dimwise::contract<vocab, d_k>(table, scatter_add<vocab, batch, seq>(values, ids, vocab{6}));
  CHECK(within(left.values()[0], right.values()[0], float32(80)));
  // Each example for itself, and every position: the gradient of a choice.
  CHECK(agrees(scatter_add<vocab, seq>(values, ids, vocab{6}), {6, 2, 4}, 5, [&](auto v, auto b, auto d) {
    return sum_of(5, [&](auto s) { return el(ids, b, s).value == v ? el(values, b, s, d) : 0.0; });
  }) == "");
  CHECK(agrees(scatter_add<vocab>(values, ids, vocab{6}), {6, 2, 5, 4}, 0, [&](auto v, auto b, auto s, auto d) {
    return el(ids, b, s).value == v ? el(values, b, s, d) : 0.0;
  }) == "");
}

TEST_CASE("scatter_add: whole numbers, ids along the dimension itself, composites, nothing at all, ids outside") {
  const tensor<int, seq> ones({1, 1, 1}, seq{3});
  const tensor<id<vocab>, seq> ids({id<vocab>(2), id<vocab>(0), id<vocab>(2)}, seq{3});
  const int counted[] = {1, 0, 2, 0};
  CHECK(differences(tensor<int, vocab>(scatter_add<vocab, seq>(ones, ids, vocab{4})), {4}, 0,
                    [&](auto v) { return counted[v]; }) == "");
  const auto x = drawn<tensor<float, beam, d_k>>(8, beam{3});
  const tensor<id<beam>, beam> parents({id<beam>(1), id<beam>(1), id<beam>(0)}, beam{3});
  const tensor<float, beam, d_k> back = scatter_add<beam>(x, parents, beam{2});
  CHECK(differences(back, {2, 4}, float32(1),
                    [&](auto i, auto d) { return i == 0 ? el(x, 2, d) : double(el(x, 0, d)) + el(x, 1, d); }) == "");
  using both = merged<two, three>;
  const auto y = drawn<tensor<float, both, d_k>>(9);
  const tensor<id<both>, both> order({id<both>(5), id<both>(4), id<both>(3), id<both>(2), id<both>(1), id<both>(1)});
  const tensor<float, d_k, both> turned = scatter_add<both>(y, order);
  const auto at = [&](std::size_t i, auto d) {
    return i == 0 ? 0.0 : i == 1 ? double(el(y, 4, d)) + el(y, 5, d) : el(y, 5 - i, d);
  };
  CHECK(differences(turned, {4, 6}, float32(1), [&](auto d, auto i) { return at(i, d); }) == "");
  const tensor<float, three, d_k, two> apart = dimwise::split<two, three>(scatter_add<both>(y, order));
  CHECK(differences(apart, {3, 4, 2}, float32(1), [&](auto j, auto d, auto i) { return at(i * 3 + j, d); }) == "");
  const tensor<id<vocab>, seq> none(seq{0});
  CHECK(agrees(scatter_add<vocab, seq>(tensor<float, seq, d_k>(seq{0}), none, vocab{2}), {2, 4}, 0,
               [](auto, auto) { return 0.0; }) == "");
  tensor<int, vocab> kept({7, 7}, vocab{2});
  CHECK(thrown<index_error>([&] { kept = scatter_add<vocab, seq>(ones, ids, vocab{2}); }) ==
        "scatter_add: id 2 is outside dimension vocab of extent 2 (R18)");
  CHECK(differences(kept, {2}, 0, [](auto) { return 7; }) == "");
  CHECK(thrown<dimwise::extent_error>([&] {
    (void)scatter_add<vocab, seq>(tensor<float, seq>(seq{2}), ids, vocab{4});
  }) == "scatter_add: dimension seq has extent 2 in one operand and 3 in another (R15)");
}

TEST_CASE("gather: of log-probabilities, a row by its condition and elements along their own dimension") {
  const auto table = drawn<tensor<float, two, three>>(12);
  const tensor<id<two>, seq> given({id<two>(1), id<two>(0), id<two>(1)}, seq{3});
  const auto log_of = [](const auto& x, auto row, auto at, std::size_t n) {
    return double(el(x, row, at)) - std::log(sum_of(n, [&](auto i) { return std::exp(double(el(x, row, i))); }));
  };
  CHECK(agrees(gather<two>(dimwise::log_softmax<three>(table), given), {3, 3}, 20,
               [&](auto s, auto t) { return log_of(table, el(given, s).value, t, 3); }) == "");
  const auto logits = drawn<tensor<float, beam, vocab>>(13, beam{3}, vocab{5});
  const tensor<id<beam>, beam> parents({id<beam>(1), id<beam>(1), id<beam>(0)}, beam{3});
  const tensor<id<vocab>, beam> words({id<vocab>(4), id<vocab>(0), id<vocab>(2)}, beam{3});
  CHECK(agrees(gather<beam>(dimwise::log_softmax<vocab>(logits), parents), {3, 5}, 20,
               [&](auto b, auto v) { return log_of(logits, el(parents, b).value, v, 5); }) == "");
  CHECK(agrees(gather<vocab>(dimwise::log_softmax<vocab>(logits), words), {3}, 20,
               [&](auto b) { return log_of(logits, b, el(words, b).value, 5); }) == "");
}

TEST_CASE("argmax: along several dimensions it is the id of their product, in the order in which they are named") {
  const auto x = drawn<tensor<float, beam, batch, vocab>>(10, beam{3}, batch{2}, vocab{5});
  const auto best = [&](auto b) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < 15; ++i) {
      if (el(x, i / 5, b, i % 5) > el(x, at / 5, b, at % 5)) { at = i; }
    }
    return at;
  };
  using both = merged<beam, vocab>;
  const tensor<id<both>, batch> ids = argmax<beam, vocab>(x);
  CHECK(differences(ids, {2}, 0, best) == "");
  CHECK(differences(tensor<id<merged<vocab, beam>>, batch>(argmax<vocab, beam>(x)), {2}, 0,
                    [&](auto b) { return best(b) % 5 * 3 + best(b) / 5; }) == "");
  CHECK(differences(tensor<id<both>, batch>(argmax<both>(merge<beam, vocab>(x))), {2}, 0, best) == "");
  const auto [beams, words] = split_ids(argmax<beam, vocab>(x), beam{3}, vocab{5});
  const tensor<id<beam>, batch>& parents = beams;
  const tensor<id<vocab>, batch>& chosen = words;
  CHECK(differences(parents, {2}, 0, [&](auto b) { return best(b) / 5; }) == "");
  CHECK(differences(chosen, {2}, 0, [&](auto b) { return best(b) % 5; }) == "");
  const tensor<float, batch> largest = gather<vocab>(gather<beam>(x, parents), chosen);
  CHECK(differences(largest, {2}, 0, [&](auto b) { return el(x, best(b) / 5, b, best(b) % 5); }) == "");
  const auto y = drawn<tensor<float, two, seq, three>>(11, seq{2});
  const auto [first, second] = split_ids(argmax<two, three>(y));
  const tensor<float, seq> highest = dimwise::max<two, three>(y);
  const tensor<id<two>, seq>& i = first;
  const tensor<id<three>, seq>& j = second;
  CHECK(differences(highest, {2}, 0, [&](auto s) { return el(y, el(i, s).value, s, el(j, s).value); }) == "");
  CHECK(thrown<index_error>([&] {
    (void)split_ids(tensor<id<both>, batch>({id<both>(6), id<both>(0)}, batch{2}), beam{3}, vocab{2});
  }) == "split_ids: id 6 is outside dimension merged<beam, vocab> of extent 6 (R18)");
  CHECK(thrown<index_error>([&] { (void)split_ids(ids, beam{3}, vocab{0}); }).find("of extent 0 (R18)") !=
        std::string::npos);
  // Of what is masked only the visible counts.
  const auto s = drawn<tensor<float, seq, key>>(12, seq{3}, key{3});
  const tensor<id<merged<seq, key>>> visible = argmax<seq, key>(dimwise::masked(s, dimwise::causal<seq, key>{}));
  std::size_t at = 0;
  for (std::size_t k = 0; k < 9; ++k) {
    if (k % 3 <= k / 3 && el(s, k / 3, k % 3) > el(s, at / 3, at % 3)) { at = k; }
  }
  CHECK(visible.values()[0].value == at);
}
