// SPDX-License-Identifier: BSL-1.0
// 06_scores_and_softmax -- attention of one head: scores, weights, and the marks in their types.
//
// A product of positions is `raw` until it is scaled. Softmax takes scores and returns weights that are `normalised`
// over its dimension. These can be contracted over that dimension only.
#include "support/difference.hpp"
#include <dimwise/dimwise.hpp>

#include <cmath>
#include <cstdio>
#include <iostream>

namespace lesson {
struct seq : dimwise::position_dim<3> {};
struct key : dimwise::prime<seq> {};
struct d_k : dimwise::feature_dim<4> {};
struct d_v : dimwise::feature_dim<2> {};
}  // namespace lesson

using namespace dimwise;
using namespace lesson;

namespace {

// The loops equivalent to `contract<key>(softmax<key>(scores<d_k>(q, k)), v)`.
void plain_attention(const float* q, const float* k, const float* v, float (&y)[3][2]) {
  for (std::size_t i = 0; i < 3; ++i) {
    float weight[3];
    float largest = -INFINITY;
    for (std::size_t j = 0; j < 3; ++j) {
      float product = 0;
      for (std::size_t f = 0; f < 4; ++f) { product += q[i * 4 + f] * k[j * 4 + f]; }
      weight[j] = product / std::sqrt(4.0F);
      largest = std::fmax(largest, weight[j]);
    }
    float total = 0;
    for (float& w : weight) { total += w = std::exp(w - largest); }
    for (std::size_t g = 0; g < 2; ++g) {
      y[i][g] = 0;
      for (std::size_t j = 0; j < 3; ++j) { y[i][g] += weight[j] / total * v[j * 2 + g]; }
    }
  }
}

}  // namespace

int main() {
  tensor<float, seq, d_k> q({1, 0, 1, 0, 0, 2, 0, 1, 1, 1, 0, 0});
  tensor<float, key, d_k> k({1, 0, 0, 1, 0, 1, 0, 1, 2, 0, 1, 0});
  tensor<float, key, d_v> v({1, 0, 0, 1, 2, 2});

  auto products = contract<d_k>(q, k);
  std::cout << "products: " << products;  // raw<d_k>: softmax<key>(products) does not compile (R6)
  auto s = scores<d_k>(q, k);             // equals scaled<d_k>(products): divided by √4
  std::cout << "scores: " << s;
  auto a = softmax<key>(s);
  std::cout << "weights: " << a;  // normalised<key>: contract<seq>(a, …) does not compile (R5)
  std::cout << "each row sums to one:\n";
  std::cout << sum<key>(a);
  tensor y = contract<key>(a, v);
  std::cout << "context: " << y;

  float plain[3][2];
  plain_attention(q.values().data(), k.values().data(), v.values().data(), plain);
  const double off = examples::largest_difference(y.values(), std::span<const float>(&plain[0][0], 6));
  std::printf("the loop nest agrees: %s\n", off < 1e-5 ? "yes" : "no");
  return off < 1e-5 ? 0 : 1;
}
