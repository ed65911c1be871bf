// tests/equations/operations.test.cpp -- Named Tensor Notation, section 3: the operations, against loops in double.
//
// Chiang, Rush and Barak 2022. The regions are shown in docs/reference/equations.md. SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace operations {

using namespace dimwise;
using namespace dimwise_test;

struct height : position_dim<3> {};
struct width : position_dim<4> {};
struct width2 : prime<width> {};
struct depth : position_dim<2> {};
struct chans : feature_dim<2> {};
struct layer : feature_dim<24> {};
struct prev : feature_dim<3> {};
struct next : feature_dim<5> {};
struct vocab : choice_dim<7> {};
struct emb : feature_dim<3> {};
struct seq : position_dim<> {};
struct subseq : position_dim<> {};

const auto A = drawn<tensor<float, height, width>>(1);
const auto B = drawn<tensor<float, height, width>>(2);
const auto x = drawn<tensor<float, height>>(3);
const auto y = drawn<tensor<float, height>>(4);
const auto w = drawn<tensor<float, width>>(5);

double a(std::size_t i, std::size_t j) { return el(A, i, j); }

TEST_CASE("O1 elementwise operations, and broadcasting by name") {
  // [elementwise]
  const auto activated = sigmoid(A);  // 1 / (1 + exp(−A))
  const auto sums = A + B;
  const auto per_row = A + x;                   // x in height: the same for every width
  const auto per_column = A + w;                // w in width: the same for every height
  const auto every = broadcast_like(x, w) * w;  // x ⊙ w in height × width
  // [/elementwise]
  CHECK(agrees(activated, {3, 4}, 3, [](auto i, auto j) { return 1 / (1 + std::exp(-a(i, j))); }) == "");
  CHECK(agrees(sums, {3, 4}, 1, [](auto i, auto j) { return a(i, j) + el(B, i, j); }) == "");
  CHECK(agrees(per_row, {3, 4}, 1, [](auto i, auto j) { return a(i, j) + el(x, i); }) == "");
  CHECK(agrees(per_column, {3, 4}, 1, [](auto i, auto j) { return a(i, j) + el(w, j); }) == "");
  CHECK(agrees(every, {3, 4}, 1, [](auto i, auto j) { return double{el(x, i)} * el(w, j); }) == "");
}

TEST_CASE("O2 reductions over one or several axes") {
  // [reductions]
  const auto column_sums = sum<height>(A);
  const auto total = sum<height, width>(A);
  const auto euclidean = sqrt(sum<height>(square(A)));                                                 // norm
  const auto cubic = map([](auto s) { return std::cbrt(s); }, sum<height>(abs(A) * abs(A) * abs(A)));  // norm_p, p = 3
  const auto least = min<height>(A);
  const auto most = max<height>(A);
  const auto average = mean<height>(A);
  const auto variance = mean<height>(square(A - mean<height>(A)));
  // [/reductions]
  const auto mean_of = [](auto j) { return sum_of(3, [&](auto i) { return a(i, j); }) / 3; };
  CHECK(agrees(column_sums, {4}, 3, [](auto j) { return sum_of(3, [&](auto i) { return a(i, j); }); }) == "");
  CHECK(differences(tensor(total), {}, float32(12),
                    [] { return sum_of(3, [](auto i) { return sum_of(4, [&](auto j) { return a(i, j); }); }); }) == "");
  CHECK(agrees(euclidean, {4}, 5,
               [](auto j) { return std::sqrt(sum_of(3, [&](auto i) { return a(i, j) * a(i, j); })); }) == "");
  CHECK(agrees(cubic, {4}, 8, [](auto j) {
    return std::cbrt(sum_of(3, [&](auto i) { return std::pow(std::abs(a(i, j)), 3); }));
  }) == "");
  CHECK(agrees(least, {4}, 0, [](auto j) { return std::min({a(0, j), a(1, j), a(2, j)}); }) == "");
  CHECK(agrees(most, {4}, 0, [](auto j) { return std::max({a(0, j), a(1, j), a(2, j)}); }) == "");
  CHECK(agrees(average, {4}, 4, mean_of) == "");
  CHECK(agrees(variance, {4}, 12,
               [&](auto j) { return sum_of(3, [&](auto i) { return std::pow(a(i, j) - mean_of(j), 2); }) / 3; }) == "");
}

TEST_CASE("O3 contraction: over one axis, several, none") {
  const auto C = drawn<tensor<float, width, depth>>(6);
  // [contraction]
  const auto inner = contract<height>(x, y);           // x ⊙_height y = Σ_height x ⊙ y
  const auto matrix_vector = contract<width>(A, w);    // A ⊙_width w
  const auto matrix_matrix = contract<width>(A, C);    // A ⊙_width C
  const auto several = contract<height, width>(A, B);  // the Frobenius product
  const auto hadamard = A * B;                         // over no axis: A ⊙ B
  const auto tensor_product = outer(x, w);             // no axis in common
  // [/contraction]
  CHECK(differences(tensor(inner), {}, float32(6),
                    [] { return sum_of(3, [](auto i) { return double{el(x, i)} * el(y, i); }); }) == "");
  CHECK(agrees(matrix_vector, {3}, 8, [](auto i) { return sum_of(4, [&](auto j) { return a(i, j) * el(w, j); }); }) ==
        "");
  CHECK(agrees(matrix_matrix, {3, 2}, 8,
               [&](auto i, auto k) { return sum_of(4, [&](auto j) { return a(i, j) * el(C, j, k); }); }) == "");
  CHECK(differences(tensor(several), {}, float32(24), [] {
    return sum_of(3, [](auto i) { return sum_of(4, [&](auto j) { return a(i, j) * el(B, i, j); }); });
  }) == "");
  CHECK(agrees(hadamard, {3, 4}, 1, [](auto i, auto j) { return a(i, j) * el(B, i, j); }) == "");
  CHECK(agrees(tensor_product, {3, 4}, 1, [](auto i, auto j) { return double{el(x, i)} * el(w, j); }) == "");
  const auto commuted = dimwise::reference(contract<width>(C, A));
  CHECK(differences(commuted, {2, 3}, float64,
                    [&](auto k, auto i) { return sum_of(4, [&](auto j) { return a(i, j) * el(C, j, k); }); }) == "");
}

TEST_CASE("O3a contraction is associative where no axis is caught") {
  const auto X = drawn<tensor<float, prev, next>>(7);
  const auto Y = drawn<tensor<float, prev, emb>>(8);
  const auto Z = drawn<tensor<float, emb, next, depth>>(9);
  // S = prev, T = next, U = emb: prev is no axis of Z, emb none of X.
  // [associativity]
  const auto left = contract<prev, next>(X, contract<emb>(Y, Z));
  const auto right = contract<next, emb>(contract<prev>(X, Y), Z);
  // [/associativity]
  const auto expected = [&](auto d) {
    return sum_of(3, [&](auto p) {
      return sum_of(5, [&](auto n) {
        return sum_of(3, [&](auto e) { return double{el(X, p, n)} * el(Y, p, e) * el(Z, e, n, d); });
      });
    });
  };
  CHECK(agrees(left, {2}, 90, expected) == "");
  CHECK(agrees(right, {2}, 90, expected) == "");
}

TEST_CASE("O4 softmax, argmax, argmin") {
  // [softmax]
  const auto p = softmax<width>(A);  // exp(A) / Σ_width exp(A)
  const auto spelled = exp(A) / sum<width>(exp(A));
  const auto largest = argmax<width>(A);
  const auto smallest = argmax<width>(-A);
  // [/softmax]
  const auto expected = [](auto i, auto j) {
    return std::exp(a(i, j)) / sum_of(4, [&](auto k) { return std::exp(a(i, k)); });
  };
  const auto best = [](auto i, double sign) {
    std::size_t at = 0;
    for (std::size_t j = 1; j < 4; ++j) { at = sign * a(i, j) > sign * a(i, at) ? j : at; }
    return at;
  };
  CHECK(agrees(p, {3, 4}, 12, expected) == "");
  CHECK(agrees(spelled, {3, 4}, 12, expected) == "");
  CHECK(differences(tensor(largest), {3}, 0, [&](auto i) { return best(i, 1); }) == "");
  CHECK(differences(tensor(smallest), {3}, 0, [&](auto i) { return best(i, -1); }) == "");
}

TEST_CASE("O5 renaming: a matrix times its own transpose") {
  // [renaming]
  const auto gram = contract<height>(A, rename<width, width2>(A));  // A ⊙_height A_{width→width'}
  // [/renaming]
  CHECK(agrees(gram, {4, 4}, 6, [](auto j, auto k) { return sum_of(3, [&](auto i) { return a(i, j) * a(i, k); }); }) ==
        "");
}

TEST_CASE("O6 flattening, in the order that the type says") {
  const auto H = drawn<tensor<float, chans, height, width>>(10);
  // [flatten]
  const auto flat = merge<height, width, chans>(H);  // merged<height, width, chans>, height slowest
  const auto as_layer = relabel<merged<height, width, chans>, layer>(flat);  // H_{(height,width,chans)→layer}
  // [/flatten]
  const auto expected = [&](auto f) { return el(H, f % 2, f / 8, f / 2 % 4); };
  CHECK(agrees(flat, {24}, 0, expected) == "");
  CHECK(agrees(as_layer, {24}, 0, expected) == "");
  CHECK(agrees(split<height, width, chans>(flat), {3, 4, 2}, 0,
               [&](auto i, auto j, auto c) { return el(H, c, i, j); }) == "");
}

TEST_CASE("O7 indexing: embeddings, one element of each row, pairs of indices") {
  const auto E = drawn<tensor<float, vocab, emb>>(11);
  const auto P = drawn<tensor<float, seq, vocab>>(12, seq{5});
  const auto I = drawn_ids<tensor<id<vocab>, seq>>(13, 7, seq{5});
  const auto positions = drawn_ids<tensor<id<seq>, subseq>>(14, 5, subseq{3});
  const auto words = drawn_ids<tensor<id<vocab>, subseq>>(15, 7, subseq{3});
  // [indexing]
  const auto embedded = gather<vocab>(E, I);                           // index_vocab(E, I): seq × emb
  const auto chosen = gather<vocab>(P, I);                             // index_vocab(P, I): seq, one for each position
  const auto pairs = gather<vocab>(gather<seq>(P, positions), words);  // P_{seq(I), vocab(J)}: subseq
  // [/indexing]
  CHECK(agrees(embedded, {5, 3}, 0, [&](auto s, auto e) { return el(E, el(I, s).value, e); }) == "");
  CHECK(agrees(chosen, {5}, 0, [&](auto s) { return el(P, s, el(I, s).value); }) == "");
  CHECK(agrees(pairs, {3}, 0, [&](auto k) { return el(P, el(positions, k).value, el(words, k).value); }) == "");
}

}  // namespace operations
