// tests/equations/attention_variants.test.cpp -- published variants of attention, each against loops in double.
//
// T5, Shaw, Transformer-XL, ALiBi, latent attention, talking heads, slot attention, linear attention.
// SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace attention_variants {

using namespace dimwise;
using namespace dimwise_test;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct heads : heads_dim<2> {};
struct d_k : feature_dim<4> {};
struct d_v : feature_dim<3> {};
struct distance : position_dim<> {};  // relative positions
struct buckets : feature_dim<8> {};

// softmax of s over n, times v, in double.
template <class S, class V>
double attended(std::size_t n, S s, V v) {
  return sum_of(n, [&](auto j) { return std::exp(s(j)) * v(j); }) / sum_of(n, [&](auto j) { return std::exp(s(j)); });
}

const auto q = drawn<tensor<float, seq, heads, d_k>>(1, seq{5});
const auto k = drawn<tensor<float, key, heads, d_k>>(2, key{5});
const auto v = drawn<tensor<float, key, heads, d_v>>(3, key{5});

double product(std::size_t h, std::size_t i, std::size_t j) {
  return sum_of(4, [&](auto d) { return double{el(q, i, h, d)} * el(k, j, h, d); });
}

TEST_CASE("T5: no scale, a learned bias for each bucket of distances, shared over the batch") {
  const auto table = drawn<tensor<float, heads, buckets>>(4);
  const t5_buckets bucket{true, 6};
  // [t5]
  const auto s = unscaled(contract<d_k>(q, k));
  const auto a = softmax<key>(biased(s, relative_bias<seq, key, buckets>(table, bucket)));
  const auto y = contract<key>(a, v);
  // [/t5]
  const auto at = [](auto i, auto j) -> std::size_t {  // of 8 buckets, half are for later keys; of these 2 are exact
    const auto n = i > j ? i - j : j - i;
    const std::size_t first = j > i ? 4 : 0;
    if (n < 2) { return first + n; }
    const auto far = 2 + static_cast<std::size_t>(std::log(static_cast<double>(n) / 2) / std::log(6.0 / 2) * 2);
    return first + std::min<std::size_t>(far, 3);
  };
  CHECK(agrees(y, {2, 5, 3}, 40, [&](auto h, auto i, auto d) {
    return attended(5, [&](auto j) { return product(h, i, j) + el(table, h, at(i, j)); },
                    [&](auto j) { return double{el(v, j, h, d)}; });
  }) == "");
}

TEST_CASE("Shaw: learned vectors for clipped distances, in keys and in values") {
  struct reach : choice_dim<5> {};  // distances −2 … 2
  const auto table_k = drawn<tensor<float, reach, d_k>>(5);
  const auto table_v = drawn<tensor<float, reach, d_v>>(6);
  // [shaw]
  const auto ids = relative_ids<seq, key, reach>(seq{5}, key{5});
  const auto a_k = gather<reach>(table_k, ids);  // a^K_ij in seq × key × d_k
  const auto a_v = gather<reach>(table_v, ids);
  const auto e =
      scaled<d_k>(contract<d_k>(q, k) + contract<d_k>(q, a_k, along<seq>{}));  // x_i W^Q (x_j W^K + a^K_ij)ᵀ / √d_k
  const auto a = softmax<key>(e);
  const auto z = contract<key>(a, v) + contract<key>(a, a_v, along<seq>{});  // Σ_j α_ij (x_j W^V + a^V_ij)
  // [/shaw]
  const auto clip = [](auto i, auto j) {
    return static_cast<std::size_t>(std::clamp<int>(static_cast<int>(j) - static_cast<int>(i), -2, 2) + 2);
  };
  CHECK(agrees(z, {2, 5, 3}, 40, [&](auto h, auto i, auto d) {
    return attended(5, [&](auto j) {
      return (product(h, i, j) + sum_of(4, [&](auto c) {
        return double{el(q, i, h, c)} * el(table_k, clip(i, j), c);
      })) / 2;
    }, [&](auto j) { return double{el(v, j, h, d)} + el(table_v, clip(i, j), d); });
  }) == "");
}

TEST_CASE("Transformer-XL: content and positions, each with a bias of its own") {
  const auto u = drawn<tensor<float, heads, d_k>>(7);
  const auto w = drawn<tensor<float, heads, d_k>>(8);
  const auto r =
      drawn<tensor<float, distance, heads, d_k>>(9, starting_at(distance{9}, -4));  // vectors for distances −4 … 4
  // [transformer_xl]
  const auto content = contract<d_k>(q + u, k);                                     // (a) + (c)
  const auto position = skew<seq, distance, key>(contract<d_k>(q + w, r), key{5});  // (b) + (d), shifted to key − query
  const auto a = softmax<key>(scaled<d_k>(content + position));
  const auto y = contract<key>(a, v);
  // [/transformer_xl]
  CHECK(agrees(y, {2, 5, 3}, 60, [&](auto h, auto i, auto d) {
    return attended(5, [&](auto j) {
      return sum_of(4, [&](auto c) {
        return (double{el(q, i, h, c)} + el(u, h, c)) * el(k, j, h, c) +
               (double{el(q, i, h, c)} + el(w, h, c)) * el(r, j + 4 - i, h, c);
      }) / 2;
    }, [&](auto j) { return double{el(v, j, h, d)}; });
  }) == "");
}

TEST_CASE("ALiBi: a slope for each head") {
  // [alibi]
  const auto a = softmax<key>(masked(biased(scores<d_k>(q, k), alibi<seq, key, heads>{}), causal<seq, key>{}));
  // [/alibi]
  CHECK(agrees(contract<key>(a, v), {2, 5, 3}, 40, [&](auto h, auto i, auto d) {
    const double slope = std::pow(2.0, -8.0 * static_cast<double>(h + 1) / 2);
    return attended(i + 1, [&](auto j) { return product(h, i, j) / 2 - slope * static_cast<double>(i - j); },
                    [&](auto j) { return double{el(v, j, h, d)}; });
  }) == "");
}

TEST_CASE("latent attention: keys and values from one small vector, positions beside them") {
  struct d_model : feature_dim<6> {};
  struct latent : feature_dim<3> {};
  struct rot : feature_dim<2> {};
  const auto x = drawn<tensor<float, seq, d_model>>(10, seq{4});
  const auto w_dkv = drawn<tensor<float, d_model, latent>>(11);
  const auto w_uk = drawn<tensor<float, latent, heads, d_k>>(12);
  const auto w_uv = drawn<tensor<float, latent, heads, d_v>>(13);
  const auto w_q = drawn<tensor<float, d_model, heads, d_k>>(14);
  const auto w_qr = drawn<tensor<float, d_model, heads, rot>>(15);
  const auto w_kr = drawn<tensor<float, d_model, rot>>(16);
  // [latent_attention]
  const auto c = contract<d_model>(rename<seq, key>(x), w_dkv);                     // what is cached: key × latent
  const auto k_r = rename<seq, key>(rotary<seq, rot>(contract<d_model>(x, w_kr)));  // and one rotated key for all heads
  const auto q_c = contract<d_model>(x, w_q);
  const auto q_r = rotary<seq, rot>(contract<d_model>(x, w_qr));
  const auto s = contract<d_k>(q_c, contract<latent>(c, w_uk)) + contract<rot>(q_r, k_r);
  const auto a = softmax<key>(masked(scaled<summed<d_k, rot>>(s), causal<seq, key>{}));
  const auto y = contract<key>(a, contract<latent>(c, w_uv));
  // [/latent_attention]
  // [absorbed]
  const auto q_l = contract<d_k>(q_c, w_uk);  // W^UK goes to the query: keys are never formed
  const auto s_l = scaled(contract<latent>(q_l, c) + contract<rot>(q_r, k_r), 1 / std::sqrt(4.0 + 2));
  const auto y_l = contract<latent>(contract<key>(softmax<key>(masked(s_l, causal<seq, key>{})), c), w_uv);
  // [/absorbed]
  const auto in = [&](auto p, const auto& w, auto... j) {
    return sum_of(6, [&](auto m) { return double{el(x, p, m)} * el(w, m, j...); });
  };
  const auto key_at = [&](auto j, auto h, auto d) {
    return sum_of(3, [&](auto l) { return in(j, w_dkv, l) * el(w_uk, l, h, d); });
  };
  const auto turned = [](auto p, double a0, double a1, auto i) {  // base^0 = 1: the angle is the position
    const double t = static_cast<double>(p);
    return i == 0 ? a0 * std::cos(t) - a1 * std::sin(t) : a1 * std::cos(t) + a0 * std::sin(t);
  };
  const auto score = [&](auto h, auto i, auto j) {
    const double content = sum_of(4, [&](auto d) { return in(i, w_q, h, d) * key_at(j, h, d); });
    const double position = sum_of(2, [&](auto e) {
      return turned(i, in(i, w_qr, h, 0U), in(i, w_qr, h, 1U), e) * turned(j, in(j, w_kr, 0U), in(j, w_kr, 1U), e);
    });
    return (content + position) / std::sqrt(6.0);
  };
  const auto expected = [&](auto h, auto i, auto d) {
    return attended(i + 1, [&](auto j) { return score(h, i, j); },
                    [&](auto j) { return sum_of(3, [&](auto l) { return in(j, w_dkv, l) * el(w_uv, l, h, d); }); });
  };
  CHECK(agrees(y, {2, 4, 3}, 400, expected) == "");
  CHECK(agrees(permute<heads, seq, d_v>(y_l), {2, 4, 3}, 400, expected) == "");
}

TEST_CASE("talking heads: heads are mixed before and after softmax") {
  struct heads_k : prime<heads> {};     // the heads of the scores
  struct heads_v : prime<heads, 3> {};  // the heads of the values
  const auto v3 = drawn<tensor<float, key, heads_v, d_v>>(17, key{5});
  const auto p_l = drawn<tensor<float, heads, heads_k>>(18);
  const auto p_w = drawn<tensor<float, heads_k, heads_v>>(19);
  // [talking_heads]
  const auto j = contract<heads>(scores<d_k>(q, k), p_l);  // logits of the new heads
  const auto w = contract<heads_k>(softmax<key>(j), p_w);  // weights of the values' heads
  const auto y = contract<key>(w, v3);
  // [/talking_heads]
  CHECK(agrees(permute<heads_v, seq, d_v>(y), {3, 5, 3}, 80, [&](auto g, auto i, auto d) {
    return sum_of(2, [&](auto m) {
      const auto mixed = [&](auto t) {
        return sum_of(2, [&](auto h) { return product(h, i, t) / 2 * el(p_l, h, m); });
      };
      return el(p_w, m, g) * attended(5, mixed, [&](auto t) { return double{el(v3, t, g, d)}; });
    });
  }) == "");
}

TEST_CASE("slot attention: softmax over the slots, then a weighted mean over the inputs") {
 struct slots : position_dim<3> {};
  struct inputs : position_dim<> {};
  const auto sq = drawn<tensor<float, slots, d_k>>(20);
  const auto ik = drawn<tensor<float, inputs, d_k>>(21, inputs{6});
  const auto iv = drawn<tensor<float, inputs, d_v>>(22, inputs{6});
  // [slot_attention]
  const auto attn = softmax<slots>(scores<d_k>(ik, sq));  // slots compete for every input
  const auto updates = contract<inputs>(renormalise<inputs>(attn), iv);
  // [/slot_attention]
  const auto w = [&](auto i, auto s) {
    const auto score = [&](auto t) {
      return std::exp(sum_of(4, [&](auto d) { return double{el(ik, i, d)} * el(sq, t, d); }) / 2);
    };
    return score(s) / sum_of(3, score);
  };
  CHECK(agrees(updates, {3, 3}, 80, [&](auto s, auto d) {
    return sum_of(6, [&](auto i) { return w(i, s) * el(iv, i, d); }) / sum_of(6, [&](auto i) { return w(i, s); });
  }) == "");
}

TEST_CASE("linear attention: keys meet values first") {
  const auto phi = [](const auto& x) { return map([](auto t) { return t > 0 ? t + 1 : std::exp(t); }, x); };  // elu + 1
  // [linear_attention]
  const auto kv = contract<key>(phi(k), v);  // heads × d_k × d_v
  const auto z = contract<d_k>(phi(q), sum<key>(phi(k)));
  const auto y = contract<d_k>(phi(q), kv) / z;
  // [/linear_attention]
  const auto f = [](double t) { return t > 0 ? t + 1 : std::exp(t); };
  const auto w = [&](auto h, auto i, auto j) {
    return sum_of(4, [&](auto d) { return f(el(q, i, h, d)) * f(el(k, j, h, d)); });
  };
  CHECK(agrees(y, {2, 5, 3}, 60, [&](auto h, auto i, auto d) {
    return sum_of(5, [&](auto j) { return w(h, i, j) * el(v, j, h, d); }) /
           sum_of(5, [&](auto j) { return w(h, i, j); });
  }) == "");
}

TEST_CASE("attention rollout: weights of one layer through those of the layer below") {
  struct middle : prime<seq> {};
  const auto s2 = drawn<tensor<float, heads, seq, middle>>(23, seq{3}, middle{4});
  const auto s1 = drawn<tensor<float, heads, middle, key>>(24, middle{4}, key{5});
  // [rollout]
  const auto A2 = softmax<middle>(s2);
  const auto A1 = softmax<key>(s1);
  const tensor<float, heads, seq, key, normalised<key>> R =
      contract<middle>(A2, A1);  // a mixture of weights is weights
  // [/rollout]
  const auto p2 = [&](auto h, auto i, auto m) {
    return std::exp(el(s2, h, i, m)) / sum_of(4, [&](auto n) { return std::exp(double{el(s2, h, i, n)}); });
  };
  const auto p1 = [&](auto h, auto m, auto j) {
    return std::exp(el(s1, h, m, j)) / sum_of(5, [&](auto n) { return std::exp(double{el(s1, h, m, n)}); });
  };
  CHECK(differences(R, {2, 3, 5}, float32(30), [&](auto h, auto i, auto j) {
    return sum_of(4, [&](auto m) { return p2(h, i, m) * p1(h, m, j); });
  }) == "");
}

}  // namespace attention_variants
