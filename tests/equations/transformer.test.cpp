// tests/equations/transformer.test.cpp -- Named Tensor Notation, appendix A.1 and A.2: the Transformer, and LeNet.
//
// Each formula against loops in double. SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <vector>

namespace transformer {

using namespace dimwise;
using namespace dimwise_test;

// [dimensions]
struct vocab : choice_dim<11> {};
struct seq : position_dim<> {};
struct seq_q : prime<seq> {};  // seq', |seq| = |seq'|
struct layer : feature_dim<8> {};
struct heads : heads_dim<2> {};
struct key : divided<layer, heads> {};  // |key| = |val| = |layer| / |heads|
struct val : divided<layer, heads> {};
struct hidden : feature_dim<16> {};
// [/dimensions]

// [attention]
auto attention(const auto& Q, const auto& K, const auto& V, const auto& M) {
  return contract<seq>(softmax<seq>(masked(scores<key>(Q, K), M)), V);
}
// [/attention]

// [self_attention]
// W^Q, W^K ∈ R^{heads×layer×key}, W^V ∈ R^{heads×layer×val}, W^O ∈ R^{heads×val×layer}
auto self_attention(const auto& WQ, const auto& WK, const auto& WV, const auto& WO, const auto& X) {
  const auto Q = contract<layer>(WQ, rename<seq, seq_q>(X));  // W^Q ⊙_layer X_{seq→seq'}
  const auto K = contract<layer>(WK, X);                      // W^K ⊙_layer X
  const auto V = contract<layer>(WV, X);                      // W^V ⊙_layer X
  const auto M = causal<seq_q, seq>{};                        // 0 if i ≤ j else −∞
  return rename<seq_q, seq>(contract<heads, val>(WO, attention(Q, K, V, M)));
}
// [/self_attention]

// [layer_norm]
auto normed(const auto& gamma, const auto& beta, const auto& X) { return standardize<layer>(X) * gamma + beta; }
// [/layer_norm]

// [ffn]
auto ffn(const auto& W1, const auto& b1, const auto& W2, const auto& b2, const auto& X) {
  const auto H = relu(contract<layer>(W1, X) + b1);  // W¹ ∈ R^{hidden×layer}
  return contract<hidden>(W2, H) + b2;               // W² ∈ R^{layer×hidden}
}
// [/ffn]

struct block {
  tensor<float, heads, layer, key> WQ, WK;
  tensor<float, heads, layer, val> WV;
  tensor<float, heads, val, layer> WO;
  tensor<float, layer> gamma1, beta1, gamma2, beta2, b2;
  tensor<float, hidden, layer> W1;
  tensor<float, layer, hidden> W2;
  tensor<float, hidden> b1;
};

block drawn_block(unsigned seed) {
  return {drawn<tensor<float, heads, layer, key>>(seed),
          drawn<tensor<float, heads, layer, key>>(seed + 1),
          drawn<tensor<float, heads, layer, val>>(seed + 2),
          drawn<tensor<float, heads, val, layer>>(seed + 3),
          drawn<tensor<float, layer>>(seed + 4),
          drawn<tensor<float, layer>>(seed + 5),
          drawn<tensor<float, layer>>(seed + 6),
          drawn<tensor<float, layer>>(seed + 7),
          drawn<tensor<float, layer>>(seed + 8),
          drawn<tensor<float, hidden, layer>>(seed + 9),
          drawn<tensor<float, layer, hidden>>(seed + 10),
          drawn<tensor<float, hidden>>(seed + 11)};
}

const auto E = drawn<tensor<float, vocab, layer>>(1);
const auto I = drawn_ids<tensor<id<vocab>, seq>>(2, 11, seq{5});

// The same in loops: numbers[position][feature].
using numbers = std::vector<std::array<double, 8>>;

numbers embedded_loops() {
  numbers X(5);
  for (std::size_t p = 0; p < 5; ++p) {
    for (std::size_t i = 0; i < 8; ++i) {
      const double angle = static_cast<double>(p) / std::pow(10000.0, static_cast<double>(i / 2 * 2) / 8);
      X[p][i] = el(E, el(I, p).value, i) * std::sqrt(8.0) + (i % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return X;
}
numbers attention_loops(const block& w, const numbers& X) {
  numbers Y(X.size());
  for (std::size_t h = 0; h < 2; ++h) {
    const auto project = [&](const auto& W, auto p, auto d) {
      return sum_of(8, [&](auto i) { return el(W, h, i, d) * X[p][i]; });
    };
    for (std::size_t q = 0; q < X.size(); ++q) {
      const auto score = [&](auto s) {
        return sum_of(4, [&](auto d) { return project(w.WQ, q, d) * project(w.WK, s, d); }) / 2;
      };
      const double total = sum_of(q + 1, [&](auto s) { return std::exp(score(s)); });
      for (std::size_t d = 0; d < 4; ++d) {
        const double z = sum_of(q + 1, [&](auto s) { return std::exp(score(s)) / total * project(w.WV, s, d); });
        for (std::size_t i = 0; i < 8; ++i) { Y[q][i] += el(w.WO, h, d, i) * z; }
      }
    }
  }
  return Y;
}
numbers norm_loops(const tensor<float, layer>& gamma, const tensor<float, layer>& beta, const numbers& X) {
  numbers Y(X.size());
  for (std::size_t p = 0; p < X.size(); ++p) {
    const double average = sum_of(8, [&](auto i) { return X[p][i]; }) / 8;
    const double variance = sum_of(8, [&](auto i) { return std::pow(X[p][i] - average, 2); }) / 8;
    for (std::size_t i = 0; i < 8; ++i) {
      Y[p][i] = (X[p][i] - average) / std::sqrt(variance + 1e-5) * el(gamma, i) + el(beta, i);
    }
  }
  return Y;
}
numbers ffn_loops(const block& w, const numbers& X) {
  numbers Y(X.size());
  for (std::size_t p = 0; p < X.size(); ++p) {
    for (std::size_t i = 0; i < 8; ++i) {
      Y[p][i] = sum_of(16, [&](auto h) {
        return el(w.W2, i, h) *
               std::max(0.0, sum_of(8, [&](auto j) { return el(w.W1, h, j) * X[p][j]; }) + el(w.b1, h));
      }) + el(w.b2, i);
    }
  }
  return Y;
}
numbers plus(numbers X, const numbers& Y) {
  for (std::size_t p = 0; p < X.size(); ++p) {
    for (std::size_t i = 0; i < 8; ++i) { X[p][i] += Y[p][i]; }
  }
  return X;
}

tensor<float, seq, layer> as_tensor(const numbers& X) {
  tensor<float, seq, layer> t(seq{X.size()});
  for (std::size_t p = 0; p < X.size(); ++p) {
    for (std::size_t i = 0; i < 8; ++i) { t.set(static_cast<float>(X[p][i]), id<seq>(p), id<layer>(i)); }
  }
  return t;
}
numbers rounded(const tensor<float, seq, layer>& t) {
  numbers X(extent_of<seq>(t));
  for (std::size_t p = 0; p < X.size(); ++p) {
    for (std::size_t i = 0; i < 8; ++i) { X[p][i] = el(t, p, i); }
  }
  return X;
}

TEST_CASE("T1 T2 T3 the input: one-hot words, embedding, sinusoids") {
  tensor<float, seq, vocab> one_hot(seq{5});
  for (std::size_t p = 0; p < 5; ++p) { one_hot.set(1, id<seq>(p), el(I, p)); }
  // [embedding]
  const auto W = contract<vocab>(E, one_hot) * std::sqrt(8.0);  // (E ⊙_vocab I) √|layer|, Σ_vocab I = 1
  const auto same = gather<vocab>(E, I) * std::sqrt(8.0);       // index_vocab(E, I): words as ids
  const auto P = sinusoid<seq, layer>(seq{5});                  // sin((p − 1)/10000^((i−1)/|layer|)), cos(…)
  const auto X0 = same + P;
  // [/embedding]
  const auto X = embedded_loops();
  const auto w = [](auto p, auto i) { return el(E, el(I, p).value, i) * std::sqrt(8.0); };
  CHECK(differences(tensor(sum<vocab>(one_hot)), {5}, 0, [](auto) { return 1; }) == "");
  CHECK(agrees(W, {8, 5}, 22, [&](auto i, auto p) { return w(p, i); }) == "");
  CHECK(agrees(same, {5, 8}, 1, w) == "");
  CHECK(agrees(P, {5, 8}, 1, [&](auto p, auto i) { return X[p][i] - w(p, i); }) == "");
  CHECK(agrees(X0, {5, 8}, 3, [&](auto p, auto i) { return X[p][i]; }) == "");
}

TEST_CASE("T5 layer normalisation") {
  const auto X = as_tensor(embedded_loops());
  const auto b = drawn_block(10);
  const auto expected = norm_loops(b.gamma1, b.beta1, rounded(X));
  CHECK(agrees(normed(b.gamma1, b.beta1, X), {5, 8}, 60, [&](auto p, auto i) { return expected[p][i]; }) == "");
  CHECK(agrees(dimwise::layer_norm<layer>(X, b.gamma1, b.beta1), {5, 8}, 60,
               [&](auto p, auto i) { return expected[p][i]; }) == "");
}

TEST_CASE("T6 masked self-attention with heads") {
  const auto X = as_tensor(embedded_loops());
  const auto b = drawn_block(20);
  const auto expected = attention_loops(b, rounded(X));
  CHECK(agrees(self_attention(b.WQ, b.WK, b.WV, b.WO, X), {8, 5}, 400,
               [&](auto i, auto p) { return expected[p][i]; }) == "");
}

TEST_CASE("T7 feedforward layer") {
  const auto X = as_tensor(embedded_loops());
  const auto b = drawn_block(40);
  const auto expected = ffn_loops(b, rounded(X));
  CHECK(agrees(ffn(b.W1, b.b1, b.W2, b.b2, X), {8, 5}, 200, [&](auto i, auto p) { return expected[p][i]; }) == "");
}

TEST_CASE("T4 the Transformer: two blocks, and output words by the same embedding") {
  const block blocks[] = {drawn_block(60), drawn_block(80)};
  // [transformer]
  tensor<float, seq, layer> X = gather<vocab>(E, I) * std::sqrt(8.0) + sinusoid<seq, layer>(seq{5});
  for (const block& b : blocks) {
    const tensor<float, seq, layer> T = normed(b.gamma1, b.beta1, self_attention(b.WQ, b.WK, b.WV, b.WO, X) + X);
    X = normed(b.gamma2, b.beta2, ffn(b.W1, b.b1, b.W2, b.b2, T) + T);
  }
  const tensor<float, vocab, seq, normalised<vocab>> O = softmax<vocab>(contract<layer>(E, X));
  // [/transformer]
  numbers x = embedded_loops();
  for (const block& b : blocks) {
    const numbers t = norm_loops(b.gamma1, b.beta1, plus(attention_loops(b, x), x));
    x = norm_loops(b.gamma2, b.beta2, plus(ffn_loops(b, t), t));
  }
  const auto logit = [&](auto v, auto p) { return sum_of(8, [&](auto i) { return el(E, v, i) * x[p][i]; }); };
  // Standardising multiplies errors; a few thousand roundings reach the end.
  CHECK(differences(O, {11, 5}, float32(4000), [&](auto v, auto p) {
    return std::exp(logit(v, p)) / sum_of(11, [&](auto u) { return std::exp(logit(u, p)); });
  }) == "");
}

// --- LeNet ---

namespace lenet {

struct batch : batch_dim<> {};
struct chans0 : feature_dim<1> {};
struct chans1 : feature_dim<2> {};
struct chans2 : feature_dim<3> {};
struct height : position_dim<> {};
struct width : position_dim<> {};
struct kh : position_dim<3> {};
struct kw : position_dim<3> {};
struct ph : position_dim<2> {};
struct pw : position_dim<2> {};
struct layer1 : feature_dim<12> {};  // |height| |width| |chans2| after the second pooling
struct layer2 : feature_dim<4> {};
struct classes : choice_dim<3> {};

// [lenet_layers]
template <class Chans>
auto conv(const auto& W, const auto& b, const auto& X) {
  return relu(contract<Chans, kh, kw>(W, unroll<width, kw>(unroll<height, kh>(X))) + b);
}
auto max_pool(const auto& X) { return max<ph, pw>(pool<width, pw>(pool<height, ph>(X))); }
// [/lenet_layers]

using planes = std::vector<std::vector<std::vector<double>>>;

planes conv_loops(const auto& W, const auto& b, std::size_t out, const planes& X) {
  planes Y(out, std::vector(X[0].size() - 2, std::vector<double>(X[0][0].size() - 2)));
  for (std::size_t o = 0; o < out; ++o) {
    for (std::size_t i = 0; i < Y[o].size(); ++i) {
      for (std::size_t j = 0; j < Y[o][i].size(); ++j) {
        const double total = sum_of(X.size(), [&](auto c) {
          return sum_of(
              3, [&](auto u) { return sum_of(3, [&](auto v) { return el(W, o, c, u, v) * X[c][i + u][j + v]; }); });
        });
        Y[o][i][j] = std::max(0.0, total + el(b, o));
      }
    }
  }
  return Y;
}
planes pool_loops(const planes& X) {
  planes Y(X.size(), std::vector(X[0].size() / 2, std::vector<double>(X[0][0].size() / 2)));
  for (std::size_t c = 0; c < X.size(); ++c) {
    for (std::size_t i = 0; i < Y[c].size(); ++i) {
      for (std::size_t j = 0; j < Y[c][i].size(); ++j) {
        Y[c][i][j] =
            std::max({X[c][2 * i][2 * j], X[c][2 * i][2 * j + 1], X[c][2 * i + 1][2 * j], X[c][2 * i + 1][2 * j + 1]});
      }
    }
  }
  return Y;
}

}  // namespace lenet

TEST_CASE("L1 L1' LeNet, with and without flattening") {
  using namespace lenet;
  const auto X0 =
      drawn<tensor<float, lenet::batch, chans0, height, width>>(101, lenet::batch{2}, height{14}, width{14});
  const auto W1 = drawn<tensor<float, chans1, chans0, kh, kw>>(102);
  const auto b1 = drawn<tensor<float, chans1>>(103);
  const auto W2 = drawn<tensor<float, chans2, chans1, kh, kw>>(104);
  const auto b2 = drawn<tensor<float, chans2>>(105);
  const auto W3 = drawn<tensor<float, layer2, layer1>>(106);
  const auto b3 = drawn<tensor<float, layer2>>(107);
  const auto W4 = drawn<tensor<float, classes, layer2>>(108);
  const auto b4 = drawn<tensor<float, classes>>(109);
  const tensor<float, layer2, height, width, chans2> W3_unflattened(W3.values(), height{2}, width{2});
  // [lenet]
  const auto T1 = conv<chans0>(W1, b1, X0);
  const auto X1 = max_pool(T1);
  const auto T2 = conv<chans1>(W2, b2, X1);
  const auto X2 = relabel<merged<height, width, chans2>, layer1>(merge<height, width, chans2>(max_pool(T2)));
  const auto X3 = relu(contract<layer1>(W3, X2) + b3);
  const auto O = softmax<classes>(contract<layer2>(W4, X3) + b4);
  // [/lenet]
  // [lenet_unflattened]
  const auto X3_direct = relu(contract<height, width, chans2>(W3_unflattened, max_pool(T2)) +
                              b3);  // W³ in layer2 × height × width × chans2
  // [/lenet_unflattened]
  const auto expected = [&](auto n) {
    planes x(1, std::vector(14, std::vector<double>(14)));
    for (std::size_t i = 0; i < 14; ++i) {
      for (std::size_t j = 0; j < 14; ++j) { x[0][i][j] = el(X0, n, 0, i, j); }
    }
    return pool_loops(conv_loops(W2, b2, 3, pool_loops(conv_loops(W1, b1, 2, x))));
  };
  const planes both[] = {expected(0), expected(1)};
  const auto dense = [&](auto k, auto n) {
    return std::max(0.0,
                    sum_of(12, [&](auto f) { return el(W3, k, f) * both[n][f % 3][f / 6][f / 3 % 2]; }) + el(b3, k));
  };
  const auto logit = [&](auto c, auto n) {
    return sum_of(4, [&](auto k) { return el(W4, c, k) * dense(k, n); }) + el(b4, c);
  };
  CHECK(agrees(X3, {4, 2}, 600, dense) == "");
  CHECK(agrees(X3_direct, {4, 2}, 600, dense) == "");
  CHECK(agrees(O, {3, 2}, 4000, [&](auto c, auto n) {
    return std::exp(logit(c, n)) / sum_of(3, [&](auto k) { return std::exp(logit(k, n)); });
  }) == "");
}

}  // namespace transformer
