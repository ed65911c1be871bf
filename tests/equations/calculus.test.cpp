// tests/equations/calculus.test.cpp -- Named Tensor Notation, section 5: differentials, derivatives, the backward pass.
//
// Derivatives are checked against difference quotients of loops, in double. A derivative has the output's axes
// and,
// with a star, the input's. SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

namespace calculus {

using namespace dimwise;
using namespace dimwise_test;

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct seq_star : prime<seq> {};   // seq*, of the input
struct seq_q : position_dim<> {};  // seq', the queries
struct key : feature_dim<3> {};
struct key_star : prime<key> {};
struct val : feature_dim<2> {};
struct val_star : prime<val> {};
struct heads : heads_dim<2> {};
struct layer : feature_dim<4> {};
struct hidden : feature_dim<5> {};
struct vocab : choice_dim<6> {};

// (f(x + h) − f(x − h)) / 2h for the i-th of the numbers x: errs by h² f''' ≈ 1e-10.
template <class F>
double slope(std::vector<double> x, std::size_t i, F f) {
  const double h = 1e-5;
  x[i] += h;
  const double above = f(x);
  x[i] -= 2 * h;
  return (above - f(x)) / (2 * h);
}
constexpr double quotient = 1e-8;

template <class T>
std::vector<double> numbers_of(const T& x) {
  return {x.values().begin(), x.values().end()};
}
// The derivative in float64 against quotients.
template <class E, std::size_t Rank, class F>
std::string derives(const E& e, const std::size_t (&extents)[Rank], F expected) {
  return differences(dimwise::reference(e), std::to_array(extents), quotient, expected);
}

// 1 where the two indices are equal.
template <class D, class Star>
tensor<float, D, Star> identity(const D& d, const Star& star) {
  tensor<float, D, Star> one(d, star);
  for (std::size_t i = 0; i < d.extent(); ++i) { one.set(1, id<D>(i), id<Star>(i)); }
  return one;
}

// --- softmax ---

double softmax_at(const std::vector<double>& x, std::size_t i) {
  return std::exp(x[i]) / sum_of(x.size(), [&](auto j) { return std::exp(x[j]); });
}

TEST_CASE("softmax: derivative and differential") {
  const auto X = drawn<tensor<float, seq>>(1, seq{5});
  const auto dX = drawn<tensor<float, seq>>(2, seq{5});
  const auto I = identity(seq{5}, seq_star{5});
  const auto x = numbers_of(X);
  // [softmax_derivative]
  const auto Y = softmax<seq>(X);
  const auto D = (I - rename<seq, seq_star>(Y)) * Y;  // ∂Y/∂X = Y ⊙ (I_{seq,seq*} − Y_{seq→seq*})
  const auto dY = Y * (dX - contract<seq>(Y, dX));    // ∂Y = Y ⊙ (∂X − Y ⊙_seq ∂X)
  // [/softmax_derivative]
  CHECK(derives(D, {5, 5},
                [&](auto i, auto j) { return slope(x, j, [&](const auto& v) { return softmax_at(v, i); }); }) == "");
  CHECK(derives(dY, {5}, [&](auto i) {
    return sum_of(5, [&](auto j) { return slope(x, j, [&](const auto& v) { return softmax_at(v, i); }) * el(dX, j); });
  }) == "");
  // Both ways to write the differential are one.
  const auto by_derivative = contract<seq_star>(D, rename<seq, seq_star>(dX));
  CHECK(derives(by_derivative, {5}, [&](auto i) {
    return sum_of(5, [&](auto j) { return slope(x, j, [&](const auto& v) { return softmax_at(v, i); }) * el(dX, j); });
  }) == "");
}

// --- attention: Y = softmax_seq(Q ⊙_key K / √|key|) ⊙_seq V ---

double attention_at(const std::vector<double>& q, const std::vector<double>& k, const std::vector<double>& v,
                    std::size_t n, std::size_t d) {
  std::vector<double> s(n);
  for (std::size_t j = 0; j < n; ++j) {
    s[j] = sum_of(3, [&](auto e) { return q[e] * k[j * 3 + e]; }) / std::sqrt(3.0);
  }
  return sum_of(n, [&](auto j) { return softmax_at(s, j) * v[j * 2 + d]; });
}

TEST_CASE("attention: derivatives by query, keys and values") {
  const auto Q = drawn<tensor<float, key>>(3);
  const auto K = drawn<tensor<float, seq, key>>(4, seq{5});
  const auto V = drawn<tensor<float, seq, val>>(5, seq{5});
  const auto I_val = identity(val{}, val_star{});
  const auto I_seq = identity(seq{5}, seq_star{5});
  const auto q = numbers_of(Q);
  const auto k = numbers_of(K);
  const auto v = numbers_of(V);
  // [attention_derivative]
  const double root = std::sqrt(3.0);
  const auto alpha = softmax<seq>(scores<key>(Q, K));
  const auto D_alpha = (I_seq - rename<seq, seq_star>(alpha)) * alpha;  // ∂α/∂S
  const auto D_V = outer(rename<seq, seq_star>(alpha), I_val);          // ∂Y/∂V in seq* × val × val*
  const auto D_S = contract<seq>(D_alpha, V);                           // ∂Y/∂S = ∂α/∂S ⊙_seq V in seq* × val
  const auto D_Q = contract<seq_star>(D_S, rename<seq, seq_star>(rename<key, key_star>(K))) / root;  // val × key*
  const auto D_K = outer(D_S, rename<key, key_star>(Q)) / root;  // ∂Y/∂K in seq* × val × key*
  // [/attention_derivative]
  CHECK(derives(D_V, {5, 2, 2}, [&](auto j, auto d, auto e) {
    return slope(v, j * 2 + e, [&](const auto& w) { return attention_at(q, k, w, 5, d); });
  }) == "");
  CHECK(derives(D_Q, {2, 3}, [&](auto d, auto e) {
    return slope(q, e, [&](const auto& w) { return attention_at(w, k, v, 5, d); });
  }) == "");
  CHECK(derives(D_K, {5, 2, 3}, [&](auto j, auto d, auto e) {
    return slope(k, j * 3 + e, [&](const auto& w) { return attention_at(q, w, v, 5, d); });
  }) == "");
}

TEST_CASE("attention: the differential") {
  const auto Q = drawn<tensor<float, key>>(6);
  const auto K = drawn<tensor<float, seq, key>>(7, seq{4});
  const auto V = drawn<tensor<float, seq, val>>(8, seq{4});
  const auto dQ = drawn<tensor<float, key>>(9);
  const auto dK = drawn<tensor<float, seq, key>>(10, seq{4});
  const auto dV = drawn<tensor<float, seq, val>>(11, seq{4});
  // [attention_differential]
  const auto alpha = softmax<seq>(scores<key>(Q, K));
  const auto dS = scores<key>(dQ, K) + scores<key>(Q, dK);  // ∂S = (∂Q ⊙_key K + Q ⊙_key ∂K) / √|key|
  const auto d_alpha = alpha * (plain(dS) - contract<seq>(alpha, plain(dS)));  // ∂α = α ⊙ (∂S − α ⊙_seq ∂S)
  const auto dY = contract<seq>(d_alpha, V) + contract<seq>(alpha, dV);        // ∂Y = ∂α ⊙_seq V + α ⊙_seq ∂V
  // [/attention_differential]
  const auto moved = [&](double h, auto d) {
    const auto along = [&](const auto& x, const auto& dx) {
      auto to = numbers_of(x);
      for (std::size_t i = 0; i < to.size(); ++i) { to[i] += h * numbers_of(dx)[i]; }
      return to;
    };
    return attention_at(along(Q, dQ), along(K, dK), along(V, dV), 4, d);
  };
  CHECK(derives(dY, {2}, [&](auto d) { return (moved(1e-5, d) - moved(-1e-5, d)) / 2e-5; }) == "");
}

// --- the chain rule ---

TEST_CASE("chain rule: Z = σ(Y)·u, Y = W ⊙_layer X") {
  struct layer_star : prime<layer> {};
  struct hidden_star : prime<hidden> {};
  const auto X = drawn<tensor<float, layer>>(12);
  const auto W = drawn<tensor<float, hidden, layer>>(13);
  const auto I = identity(hidden{}, hidden_star{});
  // [chain_rule]
  const auto Y = contract<layer>(W, X);
  const auto Z = square(Y);
  const auto D_Z_Y = 2 * (I * Y);                   // ∂Z/∂Y in hidden × hidden*
  const auto D_Y_X = rename<layer, layer_star>(W);  // ∂Y/∂X in hidden × layer*
  const auto D_Z_X = contract<hidden_star>(
      D_Z_Y, rename<hidden, hidden_star>(D_Y_X));  // ∂Z/∂X = ∂Z/∂Y ⊙_{hidden*} ∂Y_{hidden→hidden*}/∂X
  // [/chain_rule]
  const auto x = numbers_of(X);
  const auto z = [&](const auto& v, auto h) {
    return std::pow(sum_of(4, [&](auto i) { return el(W, h, i) * v[i]; }), 2);
  };
  CHECK(derives(Z, {5}, [&](auto h) { return z(x, h); }) == "");
  CHECK(derives(D_Z_X, {5, 4}, [&](auto h, auto i) { return slope(x, i, [&](const auto& v) { return z(v, h); }); }) ==
        "");
}

// --- the backward pass: from dL/dY to dL/dX, for L = Σ G ⊙ Y ---

TEST_CASE("backward: linear layer") {
  const auto X = drawn<tensor<float, batch, seq, layer>>(14, batch{2}, seq{3});
  const auto W = drawn<tensor<float, layer, hidden>>(15);
  const auto b = drawn<tensor<float, hidden>>(16);
  const auto G = drawn<tensor<float, batch, seq, hidden>>(17, batch{2}, seq{3});
  // [linear_backward]
  const auto Y = contract<layer>(X, W) + b;
  const auto G_X = contract<hidden>(G, W);
  const auto G_W = contract<batch, seq>(X, G);
  const auto G_b = sum<batch, seq>(G);
  // [/linear_backward]
  const auto loss = [&](const auto& x, const auto& w, const auto& c) {
    return sum_of(6, [&](auto p) {
      return sum_of(5, [&](auto h) {
        return G.values()[p * 5 + h] * (sum_of(4, [&](auto i) { return x[p * 4 + i] * w[i * 5 + h]; }) + c[h]);
      });
    });
  };
  const auto x = numbers_of(X);
  const auto w = numbers_of(W);
  const auto c = numbers_of(b);
  CHECK(derives(Y, {2, 3, 5}, [&](auto n, auto s, auto h) {
    return sum_of(4, [&](auto i) { return double{el(X, n, s, i)} * el(W, i, h); }) + el(b, h);
  }) == "");
  CHECK(derives(G_X, {2, 3, 4}, [&](auto n, auto s, auto i) {
    return slope(x, (n * 3 + s) * 4 + i, [&](const auto& v) { return loss(v, w, c); });
  }) == "");
  CHECK(derives(G_W, {4, 5}, [&](auto i, auto h) {
    return slope(w, i * 5 + h, [&](const auto& v) { return loss(x, v, c); });
  }) == "");
  CHECK(derives(G_b, {5}, [&](auto h) { return slope(c, h, [&](const auto& v) { return loss(x, w, v); }); }) == "");
}

TEST_CASE("backward: a square weight") {
  const auto X = drawn<tensor<float, seq, layer>>(18, seq{3});
  const auto W = drawn<tensor<float, layer, out<layer>>>(19);
  const auto G = drawn<tensor<float, seq, layer>>(20, seq{3});
  // [square_backward]
  const tensor<float, seq, layer> Y = contract<layer>(X, W);
  const auto G_out = rename<layer, out<layer>>(G);  // G takes the place that Y's layer had as W's output
  const tensor<float, seq, layer> G_X = contract<out<layer>>(G_out, W);
  const tensor<float, layer, out<layer>> G_W = contract<seq>(X, G_out);
  // [/square_backward]
  CHECK(differences(Y, {3, 4}, float32(10), [&](auto s, auto o) {
    return sum_of(4, [&](auto i) { return double{el(X, s, i)} * el(W, i, o); });
  }) == "");
  CHECK(differences(G_X, {3, 4}, float32(10), [&](auto s, auto i) {
    return sum_of(4, [&](auto o) { return double{el(G, s, o)} * el(W, i, o); });
  }) == "");
  CHECK(differences(G_W, {4, 4}, float32(10), [&](auto i, auto o) {
    return sum_of(3, [&](auto s) { return double{el(G, s, o)} * el(X, s, i); });
  }) == "");
}

TEST_CASE("backward: softmax and cross-entropy") {
  const auto X = drawn<tensor<float, seq, vocab>>(21, seq{3});
  const auto G = drawn<tensor<float, seq, vocab>>(22, seq{3});
  const auto target = drawn_ids<tensor<id<vocab>, seq>>(23, 6, seq{3});
  tensor<float, seq, vocab> one_hot(seq{3});
  for (std::size_t s = 0; s < 3; ++s) { one_hot.set(1, id<seq>(s), el(target, s)); }
  // [softmax_backward]
  const auto P = softmax<vocab>(X);
  const auto G_X = P * (G - sum<vocab>(P * G));
  // [/softmax_backward]
  // [cross_entropy]
  const auto L = -mean<seq>(gather<vocab>(log_softmax<vocab>(X), target));
  const auto L_X = (softmax<vocab>(X) - one_hot) / 3;  // (P − one-hot) / |seq|
  // [/cross_entropy]
  const auto x = numbers_of(X);
  const auto row = [](const auto& v, auto s) {
    return std::vector<double>(v.begin() + static_cast<std::ptrdiff_t>(s * 6),
                               v.begin() + static_cast<std::ptrdiff_t>(s * 6 + 6));
  };
  const auto entropy = [&](const auto& v) {
    return -sum_of(3, [&](auto s) { return std::log(softmax_at(row(v, s), el(target, s).value)); }) / 3;
  };
  CHECK(derives(G_X, {3, 6}, [&](auto s, auto i) {
    return slope(x, s * 6 + i, [&](const auto& v) {
      return sum_of(6, [&](auto j) { return el(G, s, j) * softmax_at(row(v, s), j); });
    });
  }) == "");
  CHECK(differences(dimwise::reference(L), {}, float64, [&] { return entropy(x); }) == "");
  CHECK(derives(L_X, {3, 6}, [&](auto s, auto i) { return slope(x, s * 6 + i, entropy); }) == "");
}

TEST_CASE("backward: layer normalisation") {
  const auto X = drawn<tensor<float, seq, layer>>(24, seq{3});
  const auto gamma = drawn<tensor<float, layer>>(25);
  const auto beta = drawn<tensor<float, layer>>(26);
  const auto G = drawn<tensor<float, seq, layer>>(27, seq{3});
  // [layer_norm_backward]
  const auto sigma = sqrt(mean<layer>(square(X - mean<layer>(X))) + 1e-5);
  const auto N = (X - mean<layer>(X)) / sigma;
  const auto H = G * gamma;
  const auto G_X = (H - mean<layer>(H) - N * mean<layer>(N * H)) / sigma;
  const auto G_gamma = sum<seq>(G * N);
  const auto G_beta = sum<seq>(G);
  // [/layer_norm_backward]
  const auto normed = [](const auto& v, auto s, auto i) {
    const double average = sum_of(4, [&](auto j) { return v[s * 4 + j]; }) / 4;
    const double variance = sum_of(4, [&](auto j) { return std::pow(v[s * 4 + j] - average, 2); }) / 4;
    return (v[s * 4 + i] - average) / std::sqrt(variance + 1e-5);
  };
  const auto x = numbers_of(X);
  const auto g = numbers_of(gamma);
  const auto loss = [&](const auto& v, const auto& gain) {
    return sum_of(3, [&](auto s) {
      return sum_of(4, [&](auto i) { return el(G, s, i) * (normed(v, s, i) * gain[i] + el(beta, i)); });
    });
  };
  CHECK(derives(G_X, {3, 4},
                [&](auto s, auto i) { return slope(x, s * 4 + i, [&](const auto& v) { return loss(v, g); }); }) == "");
  CHECK(derives(G_gamma, {4}, [&](auto i) { return slope(g, i, [&](const auto& v) { return loss(x, v); }); }) == "");
  CHECK(derives(G_beta, {4}, [&](auto i) { return sum_of(3, [&](auto s) { return double{el(G, s, i)}; }); }) == "");
}

TEST_CASE("backward: attention with heads") {
  const auto Q = drawn<tensor<float, seq_q, heads, key>>(28, seq_q{3});
  const auto K = drawn<tensor<float, seq, heads, key>>(29, seq{4});
  const auto V = drawn<tensor<float, seq, heads, val>>(30, seq{4});
  const auto G = drawn<tensor<float, heads, seq_q, val>>(31, seq_q{3});
  // [attention_backward]
  const auto A =
      plain(softmax<seq>(scores<key>(Q, K)));   // weights, free of their marks: the backward pass turns them round
  const auto G_V = contract<seq_q>(A, G);       // Aᵀ G
  const auto G_A = plain(contract<val>(G, V));  // G Vᵀ: no scores, although a product of positions
  const auto G_S = A * (G_A - sum<seq>(A * G_A)) / std::sqrt(3.0);
  const auto G_Q = contract<seq>(G_S, K);
  const auto G_K = contract<seq_q>(G_S, Q);
  // [/attention_backward]
  const auto loss = [&](const auto& q, const auto& k, const auto& v) {
    return sum_of(2, [&](auto h) {
      return sum_of(3, [&](auto i) {
        std::vector<double> s(4);
        for (std::size_t j = 0; j < 4; ++j) {
          s[j] = sum_of(3, [&](auto e) { return q[(i * 2 + h) * 3 + e] * k[(j * 2 + h) * 3 + e]; }) / std::sqrt(3.0);
        }
        return sum_of(2, [&](auto d) {
          return el(G, h, i, d) * sum_of(4, [&](auto j) { return softmax_at(s, j) * v[(j * 2 + h) * 2 + d]; });
        });
      });
    });
  };
  const auto q = numbers_of(Q);
  const auto k = numbers_of(K);
  const auto v = numbers_of(V);
  CHECK(derives(G_Q, {2, 3, 3}, [&](auto h, auto i, auto e) {
    return slope(q, (i * 2 + h) * 3 + e, [&](const auto& w) { return loss(w, k, v); });
  }) == "");
  CHECK(derives(G_K, {2, 4, 3}, [&](auto h, auto j, auto e) {
    return slope(k, (j * 2 + h) * 3 + e, [&](const auto& w) { return loss(q, w, v); });
  }) == "");
  CHECK(derives(G_V, {2, 4, 2}, [&](auto h, auto j, auto d) {
    return slope(v, (j * 2 + h) * 2 + d, [&](const auto& w) { return loss(q, k, w); });
  }) == "");
}

}  // namespace calculus
