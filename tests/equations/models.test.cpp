// tests/equations/models.test.cpp -- Named Tensor Notation, sections 1 and 4: networks, attention, convolution, norms.
//
// Each formula against loops in double. SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace models {

using namespace dimwise;
using namespace dimwise_test;

double logistic(double v) { return 1 / (1 + std::exp(-v)); }

struct batch : batch_dim<> {};

// --- feedforward ---

struct input : feature_dim<3> {};
struct hidden1 : feature_dim<5> {};
struct hidden2 : feature_dim<4> {};
struct classes : choice_dim<2> {};

TEST_CASE("M1 feedforward network, with a name for each layer") {
  const auto X0 = drawn<tensor<float, batch, input>>(1, batch{2});
  const auto W1 = drawn<tensor<float, hidden1, input>>(2);
  const auto b1 = drawn<tensor<float, hidden1>>(3);
  const auto W2 = drawn<tensor<float, hidden2, hidden1>>(4);
  const auto b2 = drawn<tensor<float, hidden2>>(5);
  const auto W3 = drawn<tensor<float, classes, hidden2>>(6);
  const auto b3 = drawn<tensor<float, classes>>(7);
  // [feedforward]
  const auto X1 = sigmoid(contract<input>(W1, X0) + b1);    // X¹ = σ(W¹ ⊙_input X⁰ + b¹)
  const auto X2 = sigmoid(contract<hidden1>(W2, X1) + b2);  // X² = σ(W² ⊙_hidden1 X¹ + b²)
  const auto X3 = softmax<classes>(contract<hidden2>(W3, X2) + b3);
  // [/feedforward]
  const auto x1 = [&](auto h, auto b) {
    return logistic(sum_of(3, [&](auto i) { return double{el(W1, h, i)} * el(X0, b, i); }) + el(b1, h));
  };
  const auto x2 = [&](auto h, auto b) {
    return logistic(sum_of(5, [&](auto i) { return el(W2, h, i) * x1(i, b); }) + el(b2, h));
  };
  const auto logit = [&](auto c, auto b) {
    return sum_of(4, [&](auto i) { return el(W3, c, i) * x2(i, b); }) + el(b3, c);
  };
  CHECK(agrees(X1, {5, 2}, 12, x1) == "");
  CHECK(agrees(X2, {4, 2}, 24, x2) == "");
  CHECK(agrees(X3, {2, 2}, 40, [&](auto c, auto b) {
    return std::exp(logit(c, b)) / sum_of(2, [&](auto k) { return std::exp(logit(k, b)); });
  }) == "");
}

struct layer : feature_dim<4> {};
struct layer_next : prime<layer> {};  // layer'

// [full_connection]
// FullConnˡ : R^layer → R^layer, x ↦ σ(Wˡ ⊙_layer x + bˡ)_{layer'→layer}
auto full_connection(const auto& W, const auto& b, const auto& x) {
  return rename<layer_next, layer>(sigmoid(contract<layer>(W, x) + b));
}
// [/full_connection]

TEST_CASE("M1' feedforward network of equal layers: layer' is renamed to layer") {
  const auto x = drawn<tensor<float, batch, layer>>(8, batch{3});
  const auto Wa = drawn<tensor<float, layer_next, layer>>(9);
  const auto Wb = drawn<tensor<float, layer_next, layer>>(10);
  const auto ba = drawn<tensor<float, layer_next>>(11);
  const auto bb = drawn<tensor<float, layer_next>>(12);
  const auto one = [&](const auto& W, const auto& b, auto from, auto h) {
    return logistic(sum_of(4, [&](auto i) { return el(W, h, i) * from(i); }) + el(b, h));
  };
  const auto expected = [&](auto h, auto n) {
    return one(Wb, bb, [&](auto i) { return one(Wa, ba, [&](auto j) { return double{el(x, n, j)}; }, i); }, h);
  };
  CHECK(agrees(full_connection(Wb, bb, full_connection(Wa, ba, x)), {4, 3}, 24, expected) == "");
}

// --- recurrent ---

struct time : position_dim<> {};
struct hidden : feature_dim<3> {};
struct hidden_next : prime<hidden> {};  // |hidden'| = |hidden|

TEST_CASE("M2 Elman network") {
  const auto x = drawn<tensor<float, batch, time, input>>(13, batch{2}, models::time{4});
  const auto Wh = drawn<tensor<float, hidden, hidden_next>>(14);
  const auto Wi = drawn<tensor<float, input, hidden_next>>(15);
  const auto b = drawn<tensor<float, hidden_next>>(16);
  // [recurrent]
  tensor<float, batch, hidden> h(batch{2});  // h⁰
  for (std::size_t t = 0; t < extent_of<models::time>(x); ++t) {
    const auto xt = at<models::time>(x, t);
    h = rename<hidden_next, hidden>(sigmoid(contract<hidden>(Wh, h) + contract<input>(Wi, xt) + b));  // hᵗ
  }
  // [/recurrent]
  double state[2][3] = {};
  for (std::size_t t = 0; t < 4; ++t) {
    double next[2][3];
    for (std::size_t n = 0; n < 2; ++n) {
      for (std::size_t k = 0; k < 3; ++k) {
        next[n][k] = logistic(sum_of(3, [&](auto i) { return el(Wh, i, k) * state[n][i]; }) +
                              sum_of(3, [&](auto i) { return double{el(Wi, i, k)} * el(x, n, t, i); }) + el(b, k));
      }
    }
    for (std::size_t n = 0; n < 2; ++n) { std::copy(next[n], next[n] + 3, state[n]); }
  }
  CHECK(differences(h, {2, 3}, float32(60), [&](auto n, auto k) { return state[n][k]; }) == "");
}

// --- attention ---

struct seq : position_dim<> {};
struct seq_q : prime<seq> {};  // seq', the positions of the queries
struct key : feature_dim<4> {};
struct val : feature_dim<5> {};
struct heads : heads_dim<2> {};

// [attention]
// Attention : R^key × R^{seq×key} × R^{seq×val} → R^val
//   (Q, K, V) ↦ softmax_seq(Q ⊙_key K / √|key|) ⊙_seq V
auto attention(const auto& Q, const auto& K, const auto& V) {
  return contract<seq>(softmax<seq>(scores<key>(Q, K)), V);
}
// [/attention]

// [masked_attention]
//   (Q, K, V, M) ↦ softmax_seq(Q ⊙_key K / √|key| + M) ⊙_seq V,   M ∈ R^seq
auto attention(const auto& Q, const auto& K, const auto& V, const auto& M) {
  return contract<seq>(softmax<seq>(biased(scores<key>(Q, K), M)), V);
}
// [/masked_attention]

// Σ_s softmax(x)(s) v(s) in double.
template <class X, class V>
double average(std::size_t n, X x, V v) {
  return sum_of(n, [&](auto s) { return std::exp(x(s)) * v(s); }) / sum_of(n, [&](auto s) { return std::exp(x(s)); });
}

TEST_CASE("M3 attention: one query") {
  const auto Q = drawn<tensor<float, key>>(17);
  const auto K = drawn<tensor<float, seq, key>>(18, seq{6});
  const auto V = drawn<tensor<float, seq, val>>(19, seq{6});
  const auto spelled = contract<seq>(softmax<seq>(contract<key>(Q, K) / std::sqrt(4.0)), V);
  const auto score = [&](auto s) { return sum_of(4, [&](auto d) { return double{el(Q, d)} * el(K, s, d); }) / 2; };
  const auto expected = [&](auto d) { return average(6, score, [&](auto s) { return double{el(V, s, d)}; }); };
  CHECK(agrees(attention(Q, K, V), {5}, 30, expected) == "");
  CHECK(agrees(spelled, {5}, 30, expected) == "");
}

TEST_CASE("M4 attention with a mask that is added") {
  const auto Q = drawn<tensor<float, key>>(20);
  const auto K = drawn<tensor<float, seq, key>>(21, seq{4});
  const auto V = drawn<tensor<float, seq, val>>(22, seq{4});
  const tensor<float, seq> M({0, -infinite, 0.5F, 0}, seq{4});
  const auto score = [&](auto s) {
    return sum_of(4, [&](auto d) { return double{el(Q, d)} * el(K, s, d); }) / 2 + el(M, s);
  };
  CHECK(agrees(attention(Q, K, V, M), {5}, 30,
               [&](auto d) { return average(4, score, [&](auto s) { return double{el(V, s, d)}; }); }) == "");
}

TEST_CASE("M5 the same attention, lifted over positions, heads and batch") {
  const auto K = drawn<tensor<float, batch, heads, seq, key>>(24, batch{2}, seq{6});
  const auto V = drawn<tensor<float, batch, seq, heads, val>>(25, batch{2}, seq{6});
  const auto Q = drawn<tensor<float, batch, seq_q, heads, key>>(23, batch{2}, seq_q{3});
  // [lifted]
  const auto Y = attention(Q, K, V);  // Q in batch × seq' × heads × key: no word changes
  // [/lifted]
  CHECK(agrees(Y, {2, 2, 3, 5}, 30, [&](auto b, auto h, auto i, auto d) {
    return average(6, [&](auto s) {
      return sum_of(4, [&](auto e) { return double{el(Q, b, i, h, e)} * el(K, b, h, s, e); }) / 2;
    }, [&](auto s) { return double{el(V, b, s, h, d)}; });
  }) == "");
  const auto M = drawn<tensor<float, seq_q, seq>>(26, seq_q{3}, seq{6});
  CHECK(agrees(attention(Q, K, V, M), {2, 2, 3, 5}, 30, [&](auto b, auto h, auto i, auto d) {
    return average(6, [&](auto s) {
      return sum_of(4, [&](auto e) { return double{el(Q, b, i, h, e)} * el(K, b, h, s, e); }) / 2 + el(M, i, s);
    }, [&](auto s) { return double{el(V, b, s, h, d)}; });
  }) == "");
}

// --- convolution and pooling ---

struct chans : feature_dim<2> {};
struct chans_out : feature_dim<3> {};
struct height : position_dim<> {};
struct width : position_dim<> {};
struct kernel : position_dim<3> {};
struct kh : position_dim<2> {};
struct kw : position_dim<3> {};

// [conv1d]
// Conv1d(X; W, b) = W ⊙_{chans,kernel} unroll_{seq,kernel} X + b,   seq[n] → seq[n − |kernel| + 1]
auto conv1d(const auto& X, const auto& W, const auto& b) {
  return contract<chans, kernel>(W, unroll<seq, kernel>(X)) + b;
}
// [/conv1d]

// [conv2d]
auto conv2d(const auto& X, const auto& W, const auto& b) {
  return contract<chans, kh, kw>(W, unroll<width, kw>(unroll<height, kh>(X))) + b;
}
// [/conv2d]

TEST_CASE("M6 convolution over one and two axes") {
  const auto X = drawn<tensor<float, batch, chans, seq>>(27, batch{2}, seq{7});
  const auto W = drawn<tensor<float, chans_out, chans, kernel>>(28);
  const auto b = drawn<tensor<float, chans_out>>(29);
  CHECK(agrees(conv1d(X, W, b), {3, 2, 5}, 14, [&](auto o, auto n, auto s) {
    return sum_of(2, [&](auto c) {
      return sum_of(3, [&](auto k) { return double{el(W, o, c, k)} * el(X, n, c, s + k); });
    }) + el(b, o);
  }) == "");
  const auto X2 = drawn<tensor<float, chans, height, width>>(30, height{4}, models::width{6});
  const auto W2 = drawn<tensor<float, chans_out, chans, kh, kw>>(31);
  CHECK(agrees(conv2d(X2, W2, b), {3, 3, 4}, 30, [&](auto o, auto i, auto j) {
    return sum_of(2, [&](auto c) {
      return sum_of(2, [&](auto u) {
        return sum_of(3, [&](auto v) { return double{el(W2, o, c, u, v)} * el(X2, c, i + u, j + v); });
      });
    }) + el(b, o);
  }) == "");
}

// [max_pool]
auto max_pool1d(const auto& X) { return max<kernel>(pool<seq, kernel>(X)); }
auto max_pool2d(const auto& X) { return max<kh, kw>(pool<width, kw>(pool<height, kh>(X))); }
// [/max_pool]

TEST_CASE("M7 max pooling over one and two axes") {
  const auto X = drawn<tensor<float, chans, seq>>(32, seq{6});
  CHECK(agrees(max_pool1d(X), {2, 2}, 0, [&](auto c, auto s) {
    return std::max({el(X, c, 3 * s), el(X, c, 3 * s + 1), el(X, c, 3 * s + 2)});
  }) == "");
  const auto X2 = drawn<tensor<float, chans, height, width>>(33, height{4}, models::width{6});
  CHECK(agrees(max_pool2d(X2), {2, 2, 2}, 0, [&](auto c, auto i, auto j) {
    double most = -1e9;
    for (std::size_t u = 0; u < 2; ++u) {
      for (std::size_t v = 0; v < 3; ++v) { most = std::max(most, double{el(X2, c, 2 * i + u, 3 * j + v)}); }
    }
    return most;
  }) == "");
}

// --- normalisation ---

TEST_CASE("M8 standardisation, batch, instance and layer normalisation") {
  struct layer_axis : position_dim<5> {};  // the paper's layer: the positions of an example
  const auto X = drawn<tensor<float, batch, chans, layer_axis>>(34, batch{3});
  const auto gamma = drawn<tensor<float, chans>>(35);
  const auto beta = drawn<tensor<float, chans>>(36);
  const auto gamma_l = drawn<tensor<float, chans, layer_axis>>(37);
  const auto beta_l = drawn<tensor<float, chans, layer_axis>>(38);
  const double e = 1e-5;
  // [norms]
  const auto standard = (X - mean<layer_axis>(X)) / sqrt(mean<layer_axis>(square(X - mean<layer_axis>(X))) + e);
  const auto batch_norm = standardize<batch, layer_axis>(X) * gamma + beta;        // γ, β in chans
  const auto instance_norm = standardize<layer_axis>(X) * gamma + beta;            // γ, β in chans
  const auto layer_normed = standardize<layer_axis, chans>(X) * gamma_l + beta_l;  // γ, β in chans × layer
  // [/norms]
  const auto over = [&](bool b, bool c, bool l, auto n, auto k, auto s) {
    double total = 0;
    double squares = 0;
    double count = 0;
    for (std::size_t i = b ? 0 : n; i < (b ? 3 : n + 1); ++i) {
      for (std::size_t j = c ? 0 : k; j < (c ? 2 : k + 1); ++j) {
        for (std::size_t m = l ? 0 : s; m < (l ? 5 : s + 1); ++m) {
          total += el(X, i, j, m);
          squares += double{el(X, i, j, m)} * el(X, i, j, m);
          ++count;
        }
      }
    }
    const double average = total / count;
    return (el(X, n, k, s) - average) / std::sqrt(squares / count - average * average + e);
  };
  CHECK(agrees(standard, {3, 2, 5}, 40, [&](auto n, auto k, auto s) { return over(false, false, true, n, k, s); }) ==
        "");
  CHECK(agrees(standardize<layer_axis>(X), {3, 2, 5}, 40,
               [&](auto n, auto k, auto s) { return over(false, false, true, n, k, s); }) == "");
  CHECK(agrees(batch_norm, {3, 2, 5}, 60, [&](auto n, auto k, auto s) {
    return over(true, false, true, n, k, s) * el(gamma, k) + el(beta, k);
  }) == "");
  CHECK(agrees(instance_norm, {3, 2, 5}, 40, [&](auto n, auto k, auto s) {
    return over(false, false, true, n, k, s) * el(gamma, k) + el(beta, k);
  }) == "");
  CHECK(agrees(layer_normed, {3, 2, 5}, 50, [&](auto n, auto k, auto s) {
    return over(false, true, true, n, k, s) * el(gamma_l, k, s) + el(beta_l, k, s);
  }) == "");
}

}  // namespace models
