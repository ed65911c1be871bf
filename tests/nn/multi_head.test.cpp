// tests/nn/multi_head.test.cpp -- attention with heads: against loops in double, and against the formula it stands for.
// SPDX-License-Identifier: BSL-1.0
#include "modules.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace modules {

const auto x = drawn<tensor<float, batch, seq, d_model>>(1, batch{2}, seq{5});
const auto memory = drawn<tensor<float, batch, src, d_model>>(2, batch{2}, src{4});
const auto there = rename<seq, key>(x);

using plain_heads = nn::multi_head_attention<d_model, heads, d_k, d_v>;

// One head's context in double, from queries, keys and values that are stored; `visible(i, j)` is the mask.
template <class Q, class K, class V, class Visible>
double context(std::size_t keys, Q q, K k, V v, Visible visible) {
  std::vector<double> weights(keys, 0.0);
  double total = 0;
  for (std::size_t j = 0; j < keys; ++j) {
    if (visible(j)) {
      weights[j] = std::exp(sum_of(4, [&](auto d) { return q(d) * k(j, d); }) / 2);
    }
    total += weights[j];
  }
  return total == 0 ? 0 : sum_of(keys, [&](auto j) { return weights[j] / total * v(j); });
}

TEST_CASE("cross-attention with heads is its loops, with padding") {
  const auto attention = drawn_module<plain_heads>(3);
  const tensor<int, batch> lengths({4, 2}, batch{2});
  const tensor q = attention.query(x);
  const tensor k = attention.key(memory);
  const tensor v = attention.value(memory);
  const auto expected = [&](auto b, auto i, auto m) {
    return el(attention.output.bias, m) + sum_of(2, [&](auto h) {
      return sum_of(3, [&](auto d) {
        return el(attention.output.weight, h, d, m) *
               context(4, [&](auto c) { return double{el(q, b, i, h, c)}; }, [&](auto j, auto c) {
          return double{el(k, b, j, h, c)};
        }, [&](auto j) { return double{el(v, b, j, h, d)}; }, [&](auto j) { return j < (b == 0 ? 4 : 2); });
      });
    });
  };
  CHECK(module_agrees([&] { return attention(x, memory, memory, padding<src>(lengths)); }, {2, 5, 8}, 100, expected) ==
        "");
  const nn::cross_attention<seq, src, plain_heads> cross{attention};
  CHECK(differ(cross(x, memory, padding<src>(lengths)), attention(x, memory, memory, padding<src>(lengths))) == "");
}

TEST_CASE("grouped heads share keys, multi-query heads share one, a single head has none") {
  const auto grouped = drawn_module<nn::multi_head_attention<d_model, nn::grouped_heads<kv_heads, group>, d_k, d_v>>(5);
  const tensor q = grouped.query(x);
  const tensor k = grouped.key(there);
  const tensor v = grouped.value(there);
  static_assert(std::is_same_v<decltype(q), const tensor<float, batch, seq, kv_heads, group, d_k>>);
  static_assert(std::is_same_v<decltype(k), const tensor<float, batch, key, kv_heads, d_k>>);
  const auto expected = [&](auto b, auto i, auto m) {
    return el(grouped.output.bias, m) + sum_of(2, [&](auto h) {
      return sum_of(3, [&](auto g) {
        return sum_of(3, [&](auto d) {
          return el(grouped.output.weight, h, g, d, m) *
                 context(5, [&](auto c) { return double{el(q, b, i, h, g, c)}; }, [&](auto j, auto c) {
            return double{el(k, b, j, h, c)};
          }, [&](auto j) { return double{el(v, b, j, h, d)}; }, [&](auto j) { return j <= i; });
        });
      });
    });
  };
  CHECK(module_agrees([&] { return grouped(x, there, there, causal<seq, key>{}); }, {2, 5, 8}, 200, expected) == "");

  const auto shared = drawn_module<nn::multi_head_attention<d_model, nn::shared_keys<heads>, d_k, d_v>>(7);
  static_assert(std::is_same_v<decltype(shared.key(there)), tensor<float, batch, key, d_k>>);
  const auto formula = [&](const auto& a) {
    return contract<key>(softmax<key>(scores<d_k>(a.query(x), a.key(there))), a.value(there));
  };
  CHECK(differ<tensor<float, batch, seq, d_model>>(shared(x, there, there), shared.output(tensor(formula(shared))),
                                                   float32(20)) == "");

  const auto single = drawn_module<nn::multi_head_attention<d_model, nn::single_head, d_k, d_v>>(9);
  static_assert(std::is_same_v<decltype(single.query(x)), tensor<float, batch, seq, d_k>>);
  CHECK(differ<tensor<float, batch, seq, d_model>>(single(x, there, there), single.output(tensor(formula(single))),
                                                   float32(20)) == "");
}

TEST_CASE("queries and keys are normed and rotated before they meet") {
  using prepared = nn::prepared_by<nn::normalised_heads<nn::rms_norm<d_k>>, nn::rotated_heads>;
  const auto attention = drawn_module<nn::multi_head_attention<d_model, heads, d_k, d_v, nn::no_bias, prepared>>(11);
  const auto& norms = attention.prepare.first;
  const tensor q = rotary<seq, d_k>(norms.query(attention.query(x)));
  const tensor k = rotary<key, d_k>(norms.key(attention.key(there)));
  const tensor z = nn::attention<d_k, key>(q, k, attention.value(there), causal<seq, key>{});
  CHECK(differ<tensor<float, batch, seq, d_model>>(attention(x, there, there, causal<seq, key>{}), attention.output(z),
                                                   float32(40)) == "");
}

TEST_CASE("self-attention renames, and gives its weights by head") {
  const nn::self_attention<seq, key, plain_heads> own{drawn_module<plain_heads>(13)};
  CHECK(differ(own(x, causal<seq, key>{}), static_cast<const plain_heads&>(own)(x, there, there, causal<seq, key>{})) ==
        "");
  const tensor<float, batch, heads, seq, key, normalised<key>> weights = own.weights(x, causal<seq, key>{});
  CHECK(differences(tensor(sum<key>(weights)), {2, 2, 5}, float32(8), [](auto...) { return 1.0; }) == "");
  CHECK(el(weights, 0, 0, 0, 1) == 0);
}

TEST_CASE("changes of scores apply from left to right: a bias, a soft cap, a mask") {
  const auto bias = drawn<tensor<float, heads, seq, key>>(15, seq{5}, key{5});
  const auto q = drawn<tensor<float, batch, seq, heads, d_k>>(16, batch{2}, seq{5});
  const auto k = drawn<tensor<float, batch, key, heads, d_k>>(17, batch{2}, key{5});
  const auto v = drawn<tensor<float, batch, key, heads, d_v>>(18, batch{2}, key{5});
  const auto expected = [&](double scale, double cap) {
    return [&, scale, cap](auto b, auto h, auto i, auto d) {
      const auto weight = [&](auto j) {
        const double s = sum_of(4, [&](auto c) { return double{el(q, b, i, h, c)} * el(k, b, j, h, c); }) * scale;
        return std::exp((cap == 0 ? s : cap * std::tanh(s / cap)) + el(bias, h, i, j));
      };
      return sum_of(i + 1, [&](auto j) { return weight(j) * el(v, b, j, h, d); }) / sum_of(i + 1, weight);
    };
  };
  CHECK(agrees(nn::attention<d_k, key>(q, k, v, nn::soft_cap{2}, bias, causal<seq, key>{}), {2, 2, 5, 3}, 60,
               expected(0.5, 2)) == "");
  CHECK(agrees(nn::attention<d_k, key>(q, k, v, nn::not_scaled{}, bias, causal<seq, key>{}), {2, 2, 5, 3}, 60,
               expected(1, 0)) == "");
  CHECK(agrees(nn::attention<d_k, key>(q, k, v, nn::scaled_by{0.25}, bias, causal<seq, key>{}), {2, 2, 5, 3}, 60,
               expected(0.25, 0)) == "");
  CHECK(agrees(nn::attention<d_k, key>(q, k, v, [&](const auto& s) { return biased(s, bias); }, causal<seq, key>{}),
               {2, 2, 5, 3}, 60, expected(0.5, 0)) == "");
}

TEST_CASE("keys beside the input take their share: learned, zero, sinks") {
  const auto with = drawn_module<nn::multi_head_attention<d_model, heads, d_k, d_v, nn::bias_kv, nn::zero_attn>>(19);
  const tensor q = with.query(x);
  const tensor k = with.key(there);
  const tensor v = with.value(there);
  const auto expected = [&](auto b, auto i, auto m) {  // the learned key is the 6th, the zero key the 7th
    return el(with.output.bias, m) + sum_of(2, [&](auto h) {
      return sum_of(3, [&](auto d) {
        return el(with.output.weight, h, d, m) * context(7, [&](auto c) { return double{el(q, b, i, h, c)}; },
                                                         [&](auto j, auto c) {
          return j < 5 ? double{el(k, b, j, h, c)} : (j == 5 ? double{el(with.bias_k, h, c)} : 0.0);
        }, [&](auto j) { return j < 5 ? double{el(v, b, j, h, d)} : (j == 5 ? double{el(with.bias_v, h, d)} : 0.0); },
                                                         [&](auto j) { return j <= i || j > 4; });
      });
    });
  };
  CHECK(module_agrees([&] { return with(x, there, there, causal<seq, key>{}); }, {2, 5, 8}, 200, expected) == "");
  const tensor<float, batch, heads, seq, key> weights = with.weights(x, there, causal<seq, key>{});
  CHECK(extent_of<key>(weights) == 7);
  CHECK(differences(tensor(sum<key>(weights)), {2, 2, 5}, float32(16), [](auto...) { return 1.0; }) == "");

  // The learned key is scaled as the others are: weights of a scale of 0 are the same for all.
  const auto flat = drawn_module<nn::multi_head_attention<d_model, heads, d_k, d_v, nn::bias_kv>>(19);
  const tensor<float, batch, heads, seq, key> alike = flat.weights(x, there, nn::scaled_by{0});
  CHECK(differences(alike, {2, 2, 5, 6}, float32(8), [](auto...) { return 1.0 / 6; }) == "");

  const auto sunk = drawn_module<nn::multi_head_attention<d_model, heads, d_k, d_v, nn::sinks>>(23);
  const tensor<float, batch, heads, seq, key> left = sunk.weights(x, there);
  const tensor z = nn::attention_with_sinks<d_k, key>(tensor(sunk.query(x)), tensor(sunk.key(there)),
                                                      tensor(sunk.value(there)), sunk.sink);
  CHECK(differ<tensor<float, batch, seq, d_model>>(sunk(x, there, there), sunk.output(z), float32(20)) == "");
  const tensor by_weights = contract<key>(left, sunk.value(there));
  CHECK(differ<tensor<float, batch, heads, seq, d_v>>(z, by_weights, float32(20)) == "");
  CHECK(el(tensor(sum<key>(left)), 0, 0, 0) < 0.99);
}

TEST_CASE("a row that sees nothing gives the output's bias, an empty batch nothing") {
  const auto attention = drawn_module<plain_heads>(25);
  const tensor<bool, src> none(std::initializer_list<bool>{false, false, false, false}, src{4});
  CHECK(module_agrees([&] { return attention(x, memory, memory, allow(none)); }, {2, 5, 8}, 4,
                      [&](auto, auto, auto m) { return double{el(attention.output.bias, m)}; }) == "");
  const tensor<float, batch, seq, d_model> empty(batch{0}, seq{5});
  CHECK(attention(empty, rename<seq, key>(empty), rename<seq, key>(empty)).size() == 0);
}

}  // namespace modules
