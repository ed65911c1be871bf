// tests/expr/errors.test.cpp -- what is thrown when only the run knows that something is wrong.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/dims.hpp"
#include "support/numbers.hpp"

#include <doctest/doctest.h>

namespace {

using namespace dims;
using namespace dimwise;
using namespace dimwise_test;

// "contract: dimension seq has extent 3 in one operand and 4 in another (R15)"
std::string disagree(const char* operation, const char* dimension, int here, int there) {
  return std::string(operation) + ": dimension " + dimension + " has extent " + std::to_string(here) +
         " in one operand and " + std::to_string(there) + " in another (R15)";
}

const tensor<float, batch, seq, width> x(batch{2}, seq{3}, width{5});
const tensor<float, batch, seq, width> longer(batch{2}, seq{4}, width{5});

}  // namespace

TEST_CASE("extents that disagree: contract, outer and scores") {
  const tensor<float, width, vocab> w(width{6}, vocab{2});
  const tensor<float, batch, key, width> k(batch{3}, key{3}, width{5});
  CHECK(thrown<extent_error>([&] { (void)contract<width>(x, w); }) == disagree("contract", "width", 5, 6));
  CHECK(thrown<extent_error>([&] { (void)contract<width>(x, k); }) == disagree("contract", "batch", 2, 3));
  CHECK(thrown<extent_error>([&] { (void)contract<width>(x, longer, along<seq>{}); }) ==
        disagree("contract", "seq", 3, 4));
  CHECK(thrown<extent_error>([&] { (void)outer(k, tensor<float, batch>(batch{2})); }) ==
        disagree("outer", "batch", 3, 2));
  CHECK(thrown<extent_error>([&] { (void)scores<width>(x, k); }) == disagree("scores", "batch", 2, 3));
}

TEST_CASE("extents that disagree: elementwise") {
  CHECK(thrown<extent_error>([] { (void)(x + longer); }) == disagree("+", "seq", 3, 4));
  CHECK(thrown<extent_error>([] { (void)(x - longer); }) == disagree("-", "seq", 3, 4));
  CHECK(thrown<extent_error>([] { (void)(longer * x); }) == disagree("*", "seq", 4, 3));
  CHECK(thrown<extent_error>([] { (void)(x / tensor<float, width>(width{1})); }) == disagree("/", "width", 5, 1));
  CHECK(thrown<extent_error>([] { (void)map([](float a, float b, float) { return a + b; }, x, x, longer); }) ==
        disagree("map", "seq", 3, 4));
  CHECK(thrown<extent_error>([] { (void)(x + sinusoid<seq, width>(seq{9}, width{5})); }) == disagree("+", "seq", 3, 9));
  CHECK(thrown<extent_error>([] {
    (void)scaled(contract<width>(x, rename<seq, key>(x)), tensor<float, batch>(batch{7}));
  }) == disagree("scaled", "batch", 2, 7));
  CHECK(thrown<extent_error>([] {
    (void)layer_norm<width>(x, tensor<float, width>(width{4}), tensor<float, width>(width{5}));
  }) == disagree("*", "width", 5, 4));
}

TEST_CASE("extents that disagree: masks and biases") {
  const tensor<float, batch, seq, key> s(batch{2}, seq{3}, key{4});
  CHECK(thrown<extent_error>([&] { (void)masked(s, allow(tensor<bool, seq, key>(seq{3}, key{5}))); }) ==
        disagree("masked", "key", 4, 5));
  CHECK(thrown<extent_error>([&] { (void)masked(s, allow_of(block(tensor<bool, batch, key>(batch{1}, key{4})))); }) ==
        disagree("masked", "batch", 2, 1));
  CHECK(thrown<extent_error>([&] { (void)masked(s, padding<key>(tensor<int, batch>(batch{3}))); }) ==
        disagree("masked", "batch", 2, 3));
  CHECK(thrown<extent_error>([&] { (void)biased(s, tensor<float, key>(key{5})); }) == disagree("biased", "key", 4, 5));
  CHECK(thrown<extent_error>([&] { (void)sum<key>(s, allow(tensor<bool, key>(key{3}))); }) ==
        disagree("masked", "key", 4, 3));
}

TEST_CASE("padding: a length beyond the keys, or negative, throws when it is evaluated") {
  const tensor<float, batch, key> s(batch{2}, key{4});
  const auto e = [&](int length) {
    return softmax<key>(masked(s, padding<key>(tensor<int, batch>({1, length}, batch{2}))));
  };
  CHECK(thrown<extent_error>([&] { (void)evaluate(e(5)); }) ==
        "padding: length 5 is outside dimension key of extent 4 (R7)");
  CHECK(thrown<extent_error>([&] { (void)evaluate(e(-1)); }) ==
        "padding: length -1 is outside dimension key of extent 4 (R7)");
  CHECK(evaluate(e(4)).size() == 8);
}

TEST_CASE("extents that disagree: joins") {
  CHECK(thrown<extent_error>([] {
    (void)concat<seq>(x, tensor<float, batch, seq, width>(batch{2}, seq{1}, width{6}));
  }) == disagree("concat", "width", 5, 6));
  CHECK(thrown<extent_error>([] {
    (void)concat<summed<seq, source>>(x, tensor<float, batch, source, width>(batch{9}, source{1}, width{5}));
  }) == disagree("concat", "batch", 2, 9));
  CHECK(thrown<extent_error>([] { (void)stack<heads>(x, x, longer); }) == disagree("stack", "seq", 3, 4));
  const tensor<float, vocab, batch> table(vocab{7}, batch{3});
  CHECK(thrown<extent_error>([&] { (void)gather<vocab>(table, tensor<id<vocab>, batch>(batch{2})); }) ==
        disagree("gather", "batch", 2, 3));
  CHECK(thrown<extent_error>([] { (void)broadcast_like(tensor<float, seq>(seq{2}), x); }) ==
        disagree("broadcast_like", "seq", 2, 3));
}

TEST_CASE("extents that disagree: assignment to a view, a diagonal, new names") {
  std::vector<float> memory(12, 7.0F);
  tensor_view<float, seq, d_k> y(memory, seq{3});
  CHECK(thrown<extent_error>([&] { y = tensor<float, seq, d_k>(seq{4}); }) == disagree("assign", "seq", 3, 4));
  CHECK(memory == std::vector<float>(12, 7.0F));
  CHECK(thrown<extent_error>([] { (void)diagonal<seq, key>(tensor<float, seq, key>(seq{3}, key{4})); }) ==
        "diagonal: seq has extent 3 and key has extent 4 (R15)");
  CHECK(thrown<extent_error>([] { (void)relabel<width, d_k>(x); }) ==
        "relabel: width has extent 5 and d_k has extent 4 (R3)");
  CHECK(thrown<extent_error>([] { (void)relabel<width, merged<heads, d_k>>(x); }) ==
        "relabel: width has extent 5 and merged<heads, d_k> has extent 12 (R3)");
}

TEST_CASE("places outside a dimension: at, slice, gather") {
  CHECK(thrown<index_error>([] { (void)at<seq>(x, 3); }) == "at: 3 is outside dimension seq of extent 3 (R18)");
  CHECK(thrown<index_error>([] { (void)at<seq>(x, -1); }) == "at: -1 is outside dimension seq of extent 3 (R18)");
  CHECK(thrown<index_error>([] { (void)at<seq>(x, id<seq>(9)); }) ==
        "at: 9 is outside dimension seq of extent 3 (R18)");
  CHECK(thrown<index_error>([] { (void)slice<seq>(x, 1, 3); }) ==
        "slice: elements 1 to 4 are outside dimension seq of extent 3 (R18)");
  CHECK(thrown<index_error>([] { (void)slice<seq>(x, 4, 0); }) ==
        "slice: elements 4 to 4 are outside dimension seq of extent 3 (R18)");
  CHECK(thrown<index_error>([] { (void)slice<width, d_k>(x, 2); }) ==
        "slice: elements 2 to 6 are outside dimension width of extent 5 (R18)");
  CHECK(thrown<index_error>([] {
    (void)slice<seq>(x, 2, static_cast<std::size_t>(-1));
  }).starts_with("slice: elements 2 to "));
  const tensor<float, vocab> table({1, 2, 3}, vocab{3});
  const tensor<id<vocab>, seq> ids({id<vocab>(0), id<vocab>(3)}, seq{2});
  CHECK(thrown<index_error>([&] { (void)evaluate(gather<vocab>(table, ids)); }) ==
        "gather: id 3 is outside dimension vocab of extent 3 (R18)");
}

TEST_CASE("origins: positions of different extents are compared only where someone said where they begin") {
  const tensor<float, seq, key> s(seq{2}, key{3});
  const std::string say = ": seq has extent 2 and key has extent 3; say where they begin with starting_at (R7)";
  CHECK(thrown<origin_error>([&] { (void)masked(s, causal<seq, key>{}); }) == "masked" + say);
  CHECK(thrown<origin_error>([&] { (void)masked(s, window<seq, key>(1, 1)); }) == "masked" + say);
  CHECK(thrown<origin_error>([&] { (void)masked(s, prefix<seq, key>(1)); }) == "masked" + say);
  CHECK(thrown<origin_error>([&] { (void)masked(s, padding<key>(2) & !causal<seq, key>{}); }) == "masked" + say);
  CHECK(thrown<origin_error>([&] { (void)indicator(causal<seq, key>{}, seq{2}, key{3}); }) == "indicator" + say);
  const tensor<float, seq, key> said(starting_at(seq{2}, 1), key{3});
  CHECK(thrown<origin_error>([&] { (void)masked(said, causal<seq, key>{}); }) == "nothing was thrown");
}

TEST_CASE("origins: operands that disagree are no mistake until a position is needed") {
  const tensor<float, seq, key> a(starting_at(seq{2}, 1), key{3});
  const tensor<float, seq, key> b(starting_at(seq{2}, 5), key{3});
  CHECK(evaluate(a + b).size() == 6);
  CHECK(thrown<origin_error>([&] { (void)masked(a + b, causal<seq, key>{}); }) ==
        "masked: the operands, or the tensors they come from, have different origins along seq");
}
