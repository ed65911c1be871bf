// SPDX-License-Identifier: BSL-1.0
// What has no slope is a constant: ids, comparisons, masks, positions and numbers, made of tracked operands or beside
// them.
#include "nodes.hpp"

using namespace grad_tests;

TEST_CASE("ids of tracked operands are constants") {
  const auto logits = some<batch, vocab>(1, batch{3}, vocab{5});
  CHECK_ADJOINT(logits, m * one_hot<vocab, double>(argmax<vocab>(m), vocab{5}));
  CHECK_ADJOINT(logits, gather<vocab>(m, argsort<vocab>(m)));
  CHECK_ADJOINT(logits, gather<vocab>(m, ids_of<vocab>(vocab{5})) * 2.0);
}

TEST_CASE("masks, positions and comparisons are constants") {
  const auto x = between_kinks<batch, seq, d_model>(2, batch{2}, seq{4});
  const tensor<int, batch> lengths({2, 4}, batch{2});
  CHECK_ADJOINT(x, m * indicator<double>(padding<seq>(lengths), seq{4}));
  CHECK_ADJOINT(x, m * sinusoid<seq, d_model>(seq{4}) + sinusoid<seq, d_model>(seq{4}));
  CHECK_ADJOINT(x, m * indicator<double>(allow(m > 0.0)));
  const auto table = some<distance, heads>(3, distance{5});
  CHECK_ADJOINT(table, gather<distance>(m, relative_ids<seq, key, distance>(seq{4}, key{4}, distance{5})));
}

TEST_CASE("scores: scaled by the features, by a number, by a tracked temperature") {
  const auto q = some<batch, seq, heads, d_k>(4, batch{2}, seq{3});
  const auto k = some<batch, key, heads, d_k>(5, batch{2}, key{4});
  const auto temperature = some<heads>(6);
  const auto product = [](const auto& a, const auto& b) { return contract<d_k>(a, b); };
  CHECK_ADJOINT(q, scaled<d_k>(product(m, k)));
  CHECK_ADJOINT(k, scaled(product(q, m), 0.3));
  CHECK_ADJOINT(std::tuple(q, temperature), scaled(product(std::get<0>(m), k), std::get<1>(m)));
  const auto shared = some<seq, d_k>(7, seq{3});
  const auto keys = some<key, d_k>(8, key{4});
  const auto of_each = some<batch>(9, batch{2});
  CHECK_ADJOINT(std::tuple(shared, of_each), scaled(product(std::get<0>(m), keys), std::get<1>(m)));
  CHECK_ADJOINT(
      std::tuple(shared, keys, of_each),
      contract<key>(softmax<key>(scaled(product(std::get<0>(m), std::get<1>(m)), std::get<2>(m))), std::get<1>(m)));
}

TEST_CASE("angles of rotary that are computed, and elements of 16 bits that are widened, are constants") {
  struct pairs : feature_dim<> {};
  const auto x = some<batch, seq, d_k>(7, batch{2}, seq{3});
  const auto frequencies = rotary_frequencies(pairs{2}, rotary_options{});
  const tensor<double, seq, pairs> angles = outer(tensor<double, seq>(std::vector{0.0, 1.0, 2.0}, seq{3}), frequencies);
  CHECK(rotary_frequency(1, 4, rotary_options{}) == doctest::Approx(frequencies.data()[1]));
  struct two_pairs : feature_dim<2> {};
  const tensor<double, two_pairs> same = rotary_frequencies<two_pairs>();  // the static extent need not be given
  CHECK(same.data()[0] == frequencies.data()[0]);
  CHECK(same.data()[1] == frequencies.data()[1]);
  CHECK(rotary_attention(rotary_options{}) == 1);
  CHECK_ADJOINT(x, rotary<seq, d_k>(m, tensor(cos(angles)), tensor(sin(angles))));
  tensor<bfloat16, d_k> stored;
  for (std::size_t i = 0; i < stored.size(); ++i) { stored.overwrite()[i] = bfloat16(float(i) + 0.5F); }
  const tensor<double, d_k> weights = widened(stored);
  CHECK_ADJOINT(x, m * weights);
}
