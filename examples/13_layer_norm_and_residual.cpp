// SPDX-License-Identifier: BSL-1.0
// 13_layer_norm_and_residual -- the feed-forward half of a transformer block: norms and residuals.
//
// `layer_norm` names the features it normalises. A residual adds two tensors with the same dimensions; an extent of 1
// never broadcasts.
#include "support/difference.hpp"
#include <dimwise/dimwise.hpp>

#include <cmath>
#include <cstdio>
#include <iostream>

namespace lesson {
struct seq : dimwise::position_dim<2> {};
struct d_model : dimwise::feature_dim<4> {};
struct d_ff : dimwise::feature_dim<3> {};
}  // namespace lesson

using namespace dimwise;
using namespace lesson;

namespace {

// Pre-norm: the norm before the block, the residual after it.
template <has_dims<seq, d_model> X>
auto feed_forward(const X& x, const tensor<float, d_model, d_ff>& w_1, const tensor<float, d_ff, d_model>& w_2) {
  auto hidden = gelu(contract<d_model>(layer_norm<d_model>(x), w_1));
  return x + contract<d_ff>(hidden, w_2);
}

}  // namespace

int main() {
  tensor<float, seq, d_model> x({1, 2, 3, 4, 10, 10, 20, 20});
  tensor<float, d_model> gamma({1, 1, 1, 2});
  tensor<float, d_model> beta({0, 0, 0, 100});

  tensor y = layer_norm<d_model>(x, gamma, beta);
  std::cout << "layer_norm: " << y;

  // The equivalent loops; other frameworks write `axis=-1` instead of the name.
  float plain[2][4];
  for (std::size_t i = 0; i < 2; ++i) {
    float mean = 0;
    float variance = 0;
    for (std::size_t f = 0; f < 4; ++f) { mean += x.values()[i * 4 + f] / 4; }
    for (std::size_t f = 0; f < 4; ++f) {
      variance += (x.values()[i * 4 + f] - mean) * (x.values()[i * 4 + f] - mean) / 4;
    }
    for (std::size_t f = 0; f < 4; ++f) {
      plain[i][f] = (x.values()[i * 4 + f] - mean) / std::sqrt(variance + 1e-5F) * gamma.values()[f] + beta.values()[f];
    }
  }
  const double off = examples::largest_difference(y.values(), std::span<const float>(&plain[0][0], 8));
  std::printf("the loop nest agrees: %s\n", off < 1e-4 ? "yes" : "no");

  std::cout << "rms_norm: " << rms_norm<d_model>(x);
  // layer_norm<seq>(x);       // does not compile: seq is not a feature (R13); standardize<seq>(x) takes any dimension

  tensor<float, d_model, d_ff> w_1({1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1});
  tensor<float, d_ff, d_model> w_2({1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1});
  tensor z = feed_forward(x, w_1, w_2);
  std::cout << "feed-forward: " << z;
  return off < 1e-4 ? 0 : 1;
}
