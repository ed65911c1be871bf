// tests/expr/rearrange/join.test.cpp -- concat, stack, gather.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::concat;
using dimwise::gather;
using dimwise::id;
using dimwise::index_error;
using dimwise::merge;
using dimwise::merged;
using dimwise::part;
using dimwise::permute;
using dimwise::split;
using dimwise::stack;
using dimwise::starting_at;
using dimwise::summed;
using dimwise::tensor;

struct cls : dimwise::position_dim<1> {};
struct pack : dimwise::packed_dim<> {};
struct beam : dimwise::dimension<dimwise::ability::parallel | dimwise::ability::choice> {};
struct lexicon : dimwise::choice_dim<> {};

TEST_CASE("concat keeps the documents of packed positions, in order") {
  const tensor<float, pack> a({1, 2, 3, 4, 5}, pack{{2, 3}});
  const tensor<float, pack> b({6}, pack{{1}});
  const tensor both = concat<pack>(a, b);
  const auto& documents = both.extents().documents<pack>();
  REQUIRE(documents.size() == 3);
  CHECK(documents.begin()[0] == 2);
  CHECK(documents.begin()[1] == 3);
  CHECK(documents.begin()[2] == 1);
  // Of a part that does not say its documents nothing is known.
  CHECK(!tensor(concat<pack>(a, tensor<float, pack>())).extents().documents<pack>().known());
}

}  // namespace

TEST_CASE("concat: masked scores of the keys beside those of a memory that every query sees") {
  const auto q = drawn<tensor<float, seq, d_k>>(1, seq{3});
  const auto k = drawn<tensor<float, key, d_k>>(2, key{3});
  const auto memory = drawn<tensor<float, source, d_k>>(3, source{2});
  using all = summed<source, key>;
  const auto v = drawn<tensor<float, all, d_v>>(5, source{2}, key{3});
  const tensor of_keys = dimwise::scores<d_k>(q, k);
  const tensor of_memory = dimwise::scores<d_k>(q, memory);
  const auto weight = [&](auto i, auto j) {
    const auto seen = [&](auto t) {
      return t < 2 ? std::exp(double{el(of_memory, i, t)}) : (t - 2 <= i ? std::exp(double{el(of_keys, i, t - 2)}) : 0);
    };
    double sum = 0;
    for (std::size_t t = 0; t < 5; ++t) { sum += seen(t); }
    return seen(j) / sum;
  };
  const auto attended = [&](auto i, auto d) {
    double sum = 0;
    for (std::size_t t = 0; t < 5; ++t) { sum += weight(i, t) * el(v, t, d); }
    return sum;
  };
  const auto visible = dimwise::causal<seq, key>{};
  const auto joined = concat<all>(of_memory, dimwise::masked(of_keys, visible));
  CHECK(agrees(dimwise::softmax<all>(joined), {3, 5}, 12, weight) == "");
  CHECK(agrees(dimwise::contract<all>(dimwise::softmax<all>(joined), v), {3, 4}, 24, attended) == "");
  const tensor kept = joined;
  CHECK(agrees(dimwise::softmax<all>(kept), {3, 5}, 12, weight) == "");
  const tensor turned = concat<summed<key, source>>(dimwise::masked(of_keys, visible), of_memory);
  CHECK(agrees(dimwise::softmax<summed<key, source>>(turned), {3, 5}, 12,
               [&](auto i, auto j) { return weight(i, (j + 2) % 5); }) == "");
  // A hidden score may be anything.
  tensor odd = of_keys;
  odd.set(std::nanf(""), id<seq>(0), id<key>(2));
  CHECK(agrees(dimwise::softmax<all>(concat<all>(of_memory, dimwise::masked(odd, visible))), {3, 5}, 12, weight) == "");
}

TEST_CASE("concat: biased scores of the keys beside those of a memory that has no bias") {
  const auto q = drawn<tensor<float, seq, d_k>>(1, seq{2});
  const auto k = drawn<tensor<float, key, d_k>>(2, key{3});
  const auto memory = drawn<tensor<float, source, d_k>>(3, source{2});
  const auto b = drawn<tensor<float, seq, key>>(4, seq{2}, key{3});
  using all = summed<source, key>;
  const tensor s = dimwise::biased(dimwise::scores<d_k>(q, k), b);
  const tensor of_memory = dimwise::scores<d_k>(q, memory);
  const auto joined = concat<all>(of_memory, s);
  const auto expected = [&](auto i, auto j) {
    const auto score = [&](auto t) { return static_cast<double>(t < 2 ? el(of_memory, i, t) : el(s, i, t - 2)); };
    double sum = 0;
    for (std::size_t t = 0; t < 5; ++t) { sum += std::exp(score(t)); }
    return std::exp(score(j)) / sum;
  };
  CHECK(agrees(dimwise::softmax<all>(joined), {2, 5}, 12, expected) == "");
}

TEST_CASE("concat: along a run-time dimension, wherever it lies, empty operands included") {
  for (const std::size_t n : counts{0, 1, 3}) {
    for (const std::size_t m : counts{0, 2}) {
      const auto a = drawn<tensor<float, batch, seq, d_k>>(1, batch{2}, seq{n});
      const auto b = drawn<tensor<float, batch, seq, d_k>>(2, batch{2}, seq{m});
      const auto expected = [&](auto i, auto s, auto d) { return s < n ? el(a, i, s, d) : el(b, i, s - n, d); };
      CHECK(agrees(concat<seq>(a, b), {2, n + m, 4}, 0, expected) == "");
      const tensor<float, d_k, batch, seq> turned = b;  // the first operand's order is the result's
      CHECK(agrees(concat<seq>(a, turned), {2, n + m, 4}, 0, expected) == "");
      CHECK(agrees(concat<seq>(scattered(a).view(), scattered(turned).view()), {2, n + m, 4}, 0, expected) == "");
      CHECK(agrees(concat<seq>(turned, a), {4, 2, n + m}, 0,
                   [&](auto d, auto i, auto s) { return s < m ? el(b, i, s, d) : el(a, i, s - m, d); }) == "");
    }
  }
}

TEST_CASE("concat: many operands, expressions among them, of two types") {
  const auto a = drawn<tensor<float, seq, d_k>>(3, seq{2});
  const auto b = drawn<tensor<double, seq, d_k>>(4, seq{1});
  const tensor<double, seq, d_k> y = concat<seq>(a, b, a * 2, a + 1);
  CHECK(differences(y, {7, 4}, float32(1), [&](auto s, auto d) {
    return s < 2 ? el(a, s, d) : s == 2 ? el(b, 0, d) : s < 5 ? 2.0 * el(a, s - 3, d) : el(a, s - 5, d) + 1.0;
  }) == "");
}

TEST_CASE("concat: into a sum of distinct dimensions, from which `part` takes them back") {
  const auto token = drawn<tensor<float, batch, cls, d_k>>(5, batch{2});
  const auto patches = drawn<tensor<float, batch, seq, d_k>>(6, batch{2}, seq{3});
  const auto all = concat<summed<cls, seq>>(token, patches);
  CHECK(agrees(all, {2, 4, 4}, 0,
               [&](auto b, auto s, auto d) { return s == 0 ? el(token, b, 0, d) : el(patches, b, s - 1, d); }) == "");
  CHECK(agrees(part<seq>(all), {2, 3, 4}, 0, [&](auto b, auto s, auto d) { return el(patches, b, s, d); }) == "");
  CHECK(agrees(part<cls>(tensor<float, d_k, summed<cls, seq>, batch>(all)), {4, 1, 2}, 0,
               [&](auto d, auto, auto b) { return el(token, b, 0, d); }) == "");
  // A part that is a product: fused queries and values.
  const auto q = drawn<tensor<float, d_k, seq>>(7, seq{2});
  const auto v = drawn<tensor<float, d_v, seq, heads>>(8, seq{2});
  CHECK(agrees(concat<summed<d_k, merged<heads, d_v>>>(q, dimwise::merge<heads, d_v>(v)), {16, 2}, 0,
               [&](auto i, auto s) { return i < 4 ? el(q, i, s) : el(v, (i - 4) % 4, s, (i - 4) / 4); }) == "");
}

TEST_CASE("join: bools and ids, too") {
  const auto a = drawn<tensor<bool, seq>>(9, seq{3});
  const tensor<bool, seq> twice = concat<seq>(a, a);
  CHECK(differences(twice, {6}, 0, [&](auto s) { return el(a, s % 3); }) == "");
  const tensor<bool, seq, pair> beside = stack<pair>(a, a);
  CHECK(differences(beside, {3, 2}, 0, [&](auto s, auto) { return el(a, s); }) == "");
  const auto i = drawn_ids<tensor<id<vocab>, seq>>(10, 9, seq{3});
  const tensor<id<vocab>, seq> longer = concat<seq>(i, i);
  CHECK(differences(longer, {6}, 0, [&](auto s) { return el(i, s % 3); }) == "");
  const tensor<id<seq>, batch> order({id<seq>(2), id<seq>(0)}, batch{2});
  const tensor<id<vocab>, batch> chosen = gather<seq>(i, order);
  CHECK(differences(chosen, {2}, 0, [&](auto b) { return el(i, b == 0 ? 2 : 0); }) == "");
}

TEST_CASE("stack: a new first dimension, static or known when the program runs") {
  const auto a = drawn<tensor<float, seq, d_k>>(11, seq{3});
  const auto b = drawn<tensor<float, d_k, seq>>(12, seq{3});
  const auto expected = [&](auto i, auto s, auto d) { return i == 0 ? el(a, s, d) : el(b, d, s); };
  CHECK(agrees(stack<pair>(a, b), {2, 3, 4}, 0, expected) == "");
  CHECK(agrees(stack<batch>(a, b), {2, 3, 4}, 0, expected) == "");
  CHECK(agrees(permute<seq, pair, d_k>(stack<pair>(scattered(a).view(), b + 0)), {3, 2, 4}, 0,
               [&](auto s, auto i, auto d) { return expected(i, s, d); }) == "");
  CHECK(agrees(stack<batch>(a), {1, 3, 4}, 0, [&](auto, auto s, auto d) { return el(a, s, d); }) == "");
}

TEST_CASE("gather: an embedding, from tables of any order") {
  const auto table = drawn<tensor<float, vocab, d_k>>(13, vocab{7});
  for (const std::size_t s : counts{0, 1, 5}) {
    const auto ids = drawn_ids<tensor<id<vocab>, batch, seq>>(14, 7, batch{2}, seq{s});
    const auto expected = [&](auto b, auto p, auto d) { return el(table, el(ids, b, p).value, d); };
    CHECK(agrees(gather<vocab>(table, ids), {2, s, 4}, 0, expected) == "");
    CHECK(agrees(gather<vocab>(tensor<float, d_k, vocab>(table), ids), {2, s, 4}, 0, expected) == "");
    CHECK(agrees(gather<vocab>(scattered(table).view(), scattered(ids).view()), {2, s, 4}, 0, expected) == "");
    CHECK(agrees(gather<vocab>(table * 2, ids), {2, s, 4}, 1,
                 [&](auto b, auto p, auto d) { return 2.0 * expected(b, p, d); }) == "");
  }
}

TEST_CASE("gather: one element for each position, where table and ids share dimensions") {
  const auto logits = drawn<tensor<float, seq, vocab, batch>>(15, seq{3}, vocab{5}, batch{2});
  const auto targets = drawn_ids<tensor<id<vocab>, batch, seq>>(16, 5, batch{2}, seq{3});
  CHECK(agrees(gather<vocab>(logits, targets), {2, 3}, 0,
               [&](auto b, auto s) { return el(logits, s, el(targets, b, s).value, b); }) == "");
  const tensor<id<vocab>, seq, batch> best = dimwise::argmax<vocab>(logits);
  const tensor<float, seq, batch> at_best = gather<vocab>(logits, best);
  const tensor<float, seq, batch> largest = dimwise::max<vocab>(logits);
  CHECK(differences(at_best, {3, 2}, 0, [&](auto s, auto b) { return el(largest, s, b); }) == "");
  CHECK(agrees(gather<vocab>(logits, dimwise::argmax<vocab>(logits)), {3, 2}, 0,
               [&](auto s, auto b) { return el(largest, s, b); }) == "");
}

TEST_CASE("gather: ids that have the dimension reorder the table, any number of them") {
  const auto table = drawn<tensor<float, beam, batch, d_k>>(17, beam{4}, batch{2});
  for (const std::size_t n : counts{0, 1, 4, 7}) {
    const auto order = drawn_ids<tensor<id<beam>, beam>>(18, 4, beam{n});
    const auto expected = [&](auto i, auto b, auto d) { return el(table, el(order, i).value, b, d); };
    CHECK(agrees(gather<beam>(table, order), {n, 2, 4}, 0, expected) == "");
    CHECK(agrees(gather<beam>(scattered(table).view(), scattered(order).view()), {n, 2, 4}, 0, expected) == "");
    CHECK(agrees(gather<beam>(tensor<float, d_k, batch, beam>(table), order), {n, 4, 2}, 0,
                 [&](auto i, auto d, auto b) { return expected(i, b, d); }) == "");
    // Each example has an order of its own: what else both have is taken side by side.
    const auto orders = drawn_ids<tensor<id<beam>, batch, beam>>(19, 4, batch{2}, beam{n});
    CHECK(agrees(gather<beam>(table, orders), {2, n, 4}, 0,
                 [&](auto b, auto i, auto d) { return el(table, el(orders, b, i).value, b, d); }) == "");
  }
  const tensor<id<beam>, beam> outside({id<beam>(3), id<beam>(4)}, beam{2});
  tensor<float, beam, batch, d_k> kept = table;
  CHECK(thrown<index_error>([&] { kept = gather<beam>(table, outside); }) ==
        "gather: id 4 is outside dimension beam of extent 4 (R18)");
  CHECK(differences(kept, {4, 2, 4}, 0, [&](auto i, auto b, auto d) { return el(table, i, b, d); }) == "");
}

TEST_CASE("gather: an order of static extents, of ids and of bools, and the positions of the ids") {
  const auto x = drawn<tensor<float, four, d_k>>(20);
  const tensor<id<four>, four> reversed({id<four>(3), id<four>(2), id<four>(1), id<four>(0)});
  CHECK(agrees(gather<four>(x, reversed), {4, 4}, 0, [&](auto i, auto d) { return el(x, 3 - i, d); }) == "");
  const tensor<id<four>, four> again = gather<four>(reversed, reversed);
  CHECK(differences(again, {4}, 0, [&](auto i) { return i; }) == "");
  const auto bits = drawn<tensor<bool, four>>(21);
  CHECK(differences(tensor<bool, four>(gather<four>(bits, reversed)), {4}, 0,
                    [&](auto i) { return el(bits, 3 - i); }) == "");
  // The result stands at the positions of the ids, whatever those of the table were.
  const auto table = drawn<tensor<float, seq, d_k>>(22, starting_at(seq{5}, 7));
  const tensor<id<seq>, seq> first({id<seq>(4), id<seq>(0)}, starting_at(seq{2}, 40));
  CHECK(dimwise::describe(gather<seq>(table, first)) == "seq[2 from position 40] d_k[4]");
}

TEST_CASE("gather: a composite is reordered as a whole") {
  const auto x = drawn<tensor<float, beam, lexicon, d_k>>(23, beam{2}, lexicon{3});
  const tensor<id<merged<beam, lexicon>>, merged<beam, lexicon>> order(
      {id<merged<beam, lexicon>>(5), id<merged<beam, lexicon>>(0), id<merged<beam, lexicon>>(4),
       id<merged<beam, lexicon>>(4)},
      beam{1}, lexicon{4});
  const std::size_t from[] = {5, 0, 4, 4};
  const auto expected = [&](auto i, auto d) { return el(x, from[i] / 3, from[i] % 3, d); };
  CHECK(agrees(gather<merged<beam, lexicon>>(merge<beam, lexicon>(x), order), {4, 4}, 0, expected) == "");
  // Factors that do not lie one after the other.
  const tensor<float, lexicon, d_k, beam> turned = x;
  CHECK(agrees(gather<merged<beam, lexicon>>(merge<beam, lexicon>(turned), order), {4, 4}, 0, expected) == "");
  const tensor<id<merged<beam, lexicon>>, merged<beam, lexicon>> outside({id<merged<beam, lexicon>>(6)}, beam{1},
                                                                         lexicon{1});
  CHECK(thrown<index_error>([&] { (void)tensor(gather<merged<beam, lexicon>>(merge<beam, lexicon>(x), outside)); }) ==
        "gather: id 6 is outside dimension merged<beam, lexicon> of extent 6 (R18)");
  // Ids over a product that D is a factor of, and a sum, which is one order of elements.
  const auto table = drawn<tensor<float, beam, d_k>>(24, beam{4});
  const tensor<id<beam>, merged<beam, lexicon>> per_word({id<beam>(3), id<beam>(1), id<beam>(0), id<beam>(2)}, beam{2},
                                                         lexicon{2});
  CHECK(agrees(gather<beam>(table, per_word), {4, 4}, 0,
               [&](auto i, auto d) { return el(table, el(per_word, i).value, d); }) == "");
  const auto whole = drawn<tensor<float, summed<cls, seq>, d_k>>(25, seq{3});
  const tensor<id<summed<cls, seq>>, batch> some({id<summed<cls, seq>>(3), id<summed<cls, seq>>(0)}, batch{2});
  CHECK(agrees(gather<summed<cls, seq>>(whole, some), {2, 4}, 0,
               [&](auto b, auto d) { return el(whole, b == 0 ? 3 : 0, d); }) == "");
}

TEST_CASE("join: a dimension that is a part of a sum beside itself has one extent") {
  using dimwise::extent_error;
  const auto x = drawn<tensor<float, seq, summed<seq, cls>>>(26, seq{3});
  CHECK(thrown<extent_error>([&] { (void)concat<seq>(x, x); }) ==
        "concat: dimension seq has extent 3 in one operand and 6 in another (R15)");
  CHECK(thrown<extent_error>([&] { (void)dimwise::slice<seq>(x, 1, 2); }) ==
        "slice: dimension seq has extent 3 in one operand and 2 in another (R15)");
  CHECK(thrown<extent_error>([&] {
    (void)(dimwise::unroll<seq, four>(drawn<tensor<float, seq, summed<seq, cls>>>(27, seq{6})));
  }) == "unroll: dimension seq has extent 6 in one operand and 3 in another (R15)");
  const auto parts = drawn<tensor<float, summed<batch, pair>>>(28, batch{3});
  CHECK(thrown<extent_error>([&] { (void)stack<batch>(parts, parts); }) ==
        "stack: dimension batch has extent 3 in one operand and 2 in another (R15)");
  const auto keys = drawn<tensor<float, seq, summed<cls, key>>>(29, seq{2}, key{3});
  CHECK(thrown<extent_error>([&] { (void)dimwise::rename<seq, key>(keys); }) ==
        "rename: dimension key has extent 3 in one operand and 2 in another (R15)");
}
