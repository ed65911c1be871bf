// tests/expr/rearrange/restride.test.cpp -- rename, relabel, permute, split, merge, part, diagonal, broadcast, at,
// slice.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

namespace {

using namespace dims;
using namespace dimwise_test;
using dimwise::at;
using dimwise::broadcast;
using dimwise::broadcast_like;
using dimwise::diagonal;
using dimwise::id;
using dimwise::merge;
using dimwise::merged;
using dimwise::part;
using dimwise::permute;
using dimwise::relabel;
using dimwise::rename;
using dimwise::slice;
using dimwise::split;
using dimwise::summed;
using dimwise::tensor;

struct first_two : dimwise::feature_dim<2> {};
struct candidates : dimwise::batch_dim<> {};
struct rows : dimwise::position_dim<> {};

}  // namespace

TEST_CASE("rename and relabel: the same elements under another name") {
  const auto x = drawn<tensor<float, batch, seq, d_k>>(1, batch{2}, seq{3});
  const auto same = [&](auto b, auto s, auto d) { return el(x, b, s, d); };
  CHECK(agrees(rename<seq, key>(x), {2, 3, 4}, 0, same) == "");
  CHECK(agrees(rename<key, seq>(rename<seq, key>(x)), {2, 3, 4}, 0, same) == "");
  CHECK(agrees(relabel<seq, source>(x), {2, 3, 4}, 0, same) == "");
  CHECK(agrees(relabel<d_k, d_v>(scattered(x).view()), {2, 3, 4}, 0, same) == "");
}

TEST_CASE("relabel: a composite becomes one dimension, and one dimension a composite, wherever its factors lie") {
  const auto x = drawn<tensor<float, seq, merged<heads, d_v>, batch>>(2, seq{2}, batch{5});
  CHECK(agrees(relabel<merged<heads, d_v>, d_model>(x), {2, 12, 5}, 0,
               [&](auto s, auto m, auto b) { return el(x, s, m, b); }) == "");
  const auto apart = drawn<tensor<float, d_v, seq, heads>>(3, seq{2});
  CHECK(agrees(relabel<merged<heads, d_v>, d_model>(merge<heads, d_v>(apart)), {2, 12}, 0,
               [&](auto s, auto m) { return el(apart, m % 4, s, m / 4); }) == "");
  const auto y = drawn<tensor<float, d_model, seq>>(4, seq{3});
  CHECK(agrees(split<heads, d_k>(relabel<d_model, merged<heads, d_k>>(y)), {3, 4, 3}, 0,
               [&](auto h, auto d, auto s) { return el(y, h * 4 + d, s); }) == "");
  const tensor<float, seq, d_model> turned = y;
  CHECK(agrees(split<heads, d_k>(relabel<d_model, merged<heads, d_k>>(scattered(turned).view())), {3, 3, 4}, 0,
               [&](auto s, auto h, auto d) { return el(y, h * 4 + d, s); }) == "");
  CHECK(agrees(relabel<merged<heads, d_v>, merged<d_v, heads>>(x), {2, 12, 5}, 0,
               [&](auto s, auto m, auto b) { return el(x, s, m, b); }) == "");
}

TEST_CASE("permute: memory order alone") {
  const auto x = drawn<tensor<float, batch, seq, d_k>>(5, batch{2}, seq{3});
  CHECK(agrees(permute<d_k, batch, seq>(x), {4, 2, 3}, 0, [&](auto d, auto b, auto s) { return el(x, b, s, d); }) ==
        "");
  CHECK(agrees(permute<seq, d_k, batch>(permute<d_k, batch, seq>(x)), {3, 4, 2}, 0,
               [&](auto s, auto d, auto b) { return el(x, b, s, d); }) == "");
  CHECK(agrees(permute<seq, batch, d_k>(scattered(x).view()), {3, 2, 4}, 0,
               [&](auto s, auto b, auto d) { return el(x, b, s, d); }) == "");
}

TEST_CASE("split and merge: the first factor is slowest, neighbours or not") {
  const auto x = drawn<tensor<float, seq, merged<heads, d_k>, batch>>(6, seq{2}, batch{5});
  CHECK(agrees(split<heads, d_k>(x), {2, 3, 4, 5}, 0,
               [&](auto s, auto h, auto d, auto b) { return el(x, s, h * 4 + d, b); }) == "");
  const auto y = drawn<tensor<float, d_v, seq, heads, batch>>(7, seq{2}, batch{5});
  CHECK(agrees(merge<heads, d_v>(y), {2, 12, 5}, 0,
               [&](auto s, auto m, auto b) { return el(y, m % 4, s, m / 4, b); }) == "");
  CHECK(agrees(merge<d_v, heads>(y), {12, 2, 5}, 0,
               [&](auto m, auto s, auto b) { return el(y, m / 3, s, m % 3, b); }) == "");
  CHECK(agrees(merge<heads, d_v>(scattered(y).view()), {2, 12, 5}, 0,
               [&](auto s, auto m, auto b) { return el(y, m % 4, s, m / 4, b); }) == "");
  CHECK(agrees(permute<batch, merged<heads, d_v>, seq>(merge<heads, d_v>(y)), {5, 12, 2}, 0,
               [&](auto b, auto m, auto s) { return el(y, m % 4, s, m / 4, b); }) == "");
  const auto z = drawn<tensor<float, seq, branches, narrow>>(8, seq{2}, branches{5}, narrow{3});
  CHECK(agrees(merge<branches, narrow>(z), {2, 15}, 0, [&](auto s, auto m) { return el(z, s, m / 3, m % 3); }) == "");
  CHECK(agrees(merge<narrow, seq, branches>(z), {30}, 0, [&](auto m) { return el(z, m / 5 % 2, m % 5, m / 10); }) ==
        "");
  CHECK(agrees(merge<branches, narrow>(tensor<float, branches, narrow>(branches{0}, narrow{3})), {0}, 0,
               [](auto) { return 1.0; }) == "");
}

TEST_CASE("merge: a merged dimension takes part in everything, by its factors") {
  const auto x = drawn<tensor<float, seq, merged<heads, d_v>>>(9, seq{2});
  const auto y = drawn<tensor<float, d_v, heads, seq>>(10, seq{2});
  CHECK(agrees(x + merge<heads, d_v>(y), {2, 12}, 1,
               [&](auto s, auto m) { return double{el(x, s, m)} + el(y, m % 4, m / 4, s); }) == "");
  const auto w = drawn<tensor<float, merged<heads, d_v>, d_model>>(11);
  CHECK(agrees(dimwise::contract<merged<heads, d_v>>(merge<heads, d_v>(y), w), {2, 12}, 24, [&](auto s, auto o) {
    return sum_of(12, [&](auto m) { return double{el(y, m % 4, m / 4, s)} * el(w, m, o); });
  }) == "");
  CHECK(agrees(dimwise::sum<merged<heads, d_v>>(merge<heads, d_v>(y)), {2}, 12,
               [&](auto s) { return sum_of(12, [&](auto m) { return double{el(y, m % 4, m / 4, s)}; }); }) == "");
}

TEST_CASE("part: the parts of a sum by their names, products among them") {
  using fused = summed<d_k, merged<heads, d_v>, width>;
  const auto x = drawn<tensor<float, seq, fused, batch>>(12, seq{2}, width{3}, batch{5});
  CHECK(agrees(part<d_k>(x), {2, 4, 5}, 0, [&](auto s, auto d, auto b) { return el(x, s, d, b); }) == "");
  CHECK(agrees(part<merged<heads, d_v>>(x), {2, 12, 5}, 0,
               [&](auto s, auto m, auto b) { return el(x, s, 4 + m, b); }) == "");
  CHECK(agrees(split<heads, d_v>(part<merged<heads, d_v>>(x)), {2, 3, 4, 5}, 0,
               [&](auto s, auto h, auto d, auto b) { return el(x, s, 4 + h * 4 + d, b); }) == "");
  CHECK(agrees(part<width>(x), {2, 3, 5}, 0, [&](auto s, auto w, auto b) { return el(x, s, 16 + w, b); }) == "");
  CHECK(agrees(part<width>(permute<batch, fused, seq>(x)), {5, 3, 2}, 0,
               [&](auto b, auto w, auto s) { return el(x, s, 16 + w, b); }) == "");
}

TEST_CASE("diagonal: where two dimensions agree") {
  const auto x = drawn<tensor<float, key, batch, seq>>(13, key{4}, batch{2}, seq{4});
  CHECK(agrees(diagonal<seq, key>(x), {2, 4}, 0, [&](auto b, auto s) { return el(x, s, b, s); }) == "");
  CHECK(agrees(diagonal<key, seq>(x), {4, 2}, 0, [&](auto s, auto b) { return el(x, s, b, s); }) == "");
  CHECK(agrees(diagonal<seq, key>(scattered(x).view()), {2, 4}, 0, [&](auto b, auto s) { return el(x, s, b, s); }) ==
        "");
}

TEST_CASE("broadcast: the same elements again, over new dimensions") {
  const auto x = drawn<tensor<float, seq, d_k>>(14, seq{3});
  for (const std::size_t b : counts{0, 1, 4}) {
    CHECK(agrees(broadcast<batch>(x, batch{b}), {b, 3, 4}, 0, [&](auto, auto s, auto d) { return el(x, s, d); }) == "");
  }
  CHECK(agrees(broadcast<heads>(x), {3, 3, 4}, 0, [&](auto, auto s, auto d) { return el(x, s, d); }) == "");
  const auto like = drawn<tensor<float, batch, key, d_k>>(15, batch{2}, key{5});
  CHECK(agrees(broadcast_like(x, like), {3, 4, 2, 5}, 0, [&](auto s, auto d, auto, auto) { return el(x, s, d); }) ==
        "");
  CHECK(agrees(broadcast_like(x, like) * like, {3, 4, 2, 5}, 1,
               [&](auto s, auto d, auto b, auto t) { return double{el(x, s, d)} * el(like, b, t, d); }) == "");
}

TEST_CASE("at: removes the dimension, by number or by id") {
  const auto x = drawn<tensor<float, batch, seq, d_k>>(16, batch{2}, seq{3});
  CHECK(agrees(at<seq>(x, 2), {2, 4}, 0, [&](auto b, auto d) { return el(x, b, 2, d); }) == "");
  CHECK(agrees(at<seq>(x, id<seq>(0)), {2, 4}, 0, [&](auto b, auto d) { return el(x, b, 0, d); }) == "");
  CHECK(agrees(at<d_k>(at<batch>(scattered(x).view(), 1), 3), {3}, 0, [&](auto s) { return el(x, 1, s, 3); }) == "");
  CHECK(agrees(broadcast<seq>(at<seq>(x, 1), seq{2}), {2, 2, 4}, 0,
               [&](auto, auto b, auto d) { return el(x, b, 1, d); }) == "");
}

TEST_CASE("slice: of a composite gives a plain dimension, whatever lies between its factors") {
  const auto x = drawn<tensor<float, batch, heads, seq, d_k>>(40, batch{2}, seq{2});
  const auto expected = [&](auto i, auto s, auto d) { return el(x, (i + 1) / 3, (i + 1) % 3, s, d); };
  using both = merged<batch, heads>;
  CHECK(agrees(slice<both, candidates>(merge<batch, heads>(x), 1, 4), {4, 2, 4}, 0, expected) == "");
  CHECK(agrees(slice<both, candidates>(merge<batch, heads>(x), 1), {5, 2, 4}, 0, expected) == "");
  const tensor<float, heads, seq, batch, d_k> apart = x;
  CHECK(agrees(slice<both, candidates>(merge<batch, heads>(permute<batch, heads, seq, d_k>(apart)), 1, 4), {4, 2, 4}, 0,
               expected) == "");
  CHECK(agrees(slice<both, candidates>(merge<batch, heads>(scattered(x).view()), 1, 4), {4, 2, 4}, 0, expected) == "");
  CHECK(thrown<dimwise::index_error>([&] { (void)slice<both, candidates>(merge<batch, heads>(x), 3, 4); }) ==
        "slice: elements 3 to 7 are outside dimension merged<batch, heads> of extent 6 (R18)");
  const auto whole = drawn<tensor<float, summed<single, seq>, d_k>>(41, seq{4});
  CHECK(agrees(slice<summed<single, seq>, rows>(whole, 1, 3), {3, 4}, 0,
               [&](auto i, auto d) { return el(whole, i + 1, d); }) == "");
}

TEST_CASE("slice: keeps the dimension, its positions, or names the result") {
  const auto x = drawn<tensor<float, batch, seq, d_k>>(17, batch{2}, dimwise::starting_at(seq{5}, 10));
  CHECK(agrees(slice<seq>(x, 1, 3), {2, 3, 4}, 0, [&](auto b, auto s, auto d) { return el(x, b, s + 1, d); }) == "");
  CHECK(agrees(slice<seq>(x, 5, 0), {2, 0, 4}, 0, [](auto, auto, auto) { return 1.0; }) == "");
  CHECK(agrees(slice<seq>(slice<seq>(x, 1, 4), 2, 2), {2, 2, 4}, 0,
               [&](auto b, auto s, auto d) { return el(x, b, s + 3, d); }) == "");
  CHECK(slice<seq>(slice<seq>(x, 1, 4), 2, 2).extents().origin<seq>("test") == 13);
  CHECK(agrees(slice<d_k, first_two>(x, 2), {2, 5, 2}, 0, [&](auto b, auto s, auto d) { return el(x, b, s, d + 2); }) ==
        "");
  CHECK(agrees(slice<d_k, width>(scattered(x).view(), 1, 3), {2, 5, 3}, 0,
               [&](auto b, auto s, auto d) { return el(x, b, s, d + 1); }) == "");
}
