// SPDX-License-Identifier: BSL-1.0
// 12_positions -- positions: sinusoids, origins, rotary features, running sums.
//
// Positions follow from the extent and the origin of an ordered dimension. Encodings are added by name, to every
// example. Sinusoids follow Vaswani et al. 2017, section 3.5.
#include "support/difference.hpp"
#include <dimwise/dimwise.hpp>

#include <cmath>
#include <cstdio>
#include <iostream>

namespace lesson {
struct batch : dimwise::batch_dim<2> {};
struct seq : dimwise::position_dim<> {};
struct key : dimwise::prime<seq> {};
struct d_model : dimwise::feature_dim<4> {};
}  // namespace lesson

using namespace dimwise;
using namespace lesson;

int main() {
  tensor p = sinusoid<seq, d_model>(seq{5});
  std::cout << "sinusoids: " << p;

  // The equivalent loops:
  float plain[5][4];
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t f = 0; f < 4; ++f) {
      const double angle = static_cast<double>(i) / std::pow(10000.0, static_cast<double>(f - f % 2) / 4);
      plain[i][f] = static_cast<float>(f % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  const double off = examples::largest_difference(p.values(), std::span<const float>(&plain[0][0], 20));
  std::printf("the loop nest agrees: %s\n", off < 1e-5 ? "yes" : "no");

  // The encodings have no batch: they are added to every example.
  tensor<float, batch, seq, d_model> x(seq{5});
  std::cout << "x + positions: " << describe(x + p) << '\n';

  // The next token has position 4, set by the origin of its extent, and gets the sinusoid of row 4.
  auto one = sinusoid<seq, d_model>(starting_at(seq{1}, 4));
  std::cout << "position 4: " << one;

  // A slice keeps its positions.
  std::cout << "slice: " << describe(slice<seq>(p, 3, 2)) << '\n';

  // Rotary embeddings rotate pairs of features by their position (Su et al. 2021): products then depend on the distance
  // of the positions only. One vector at all positions shows it. The mark is `rotated`.
  tensor<float, seq, d_model> q({1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0}, seq{3});
  auto turned = rotary<seq, d_model>(q);
  std::cout << "rotated: " << describe(turned) << '\n';
  std::cout << contract<d_model>(turned, rotary<key, d_model>(rename<seq, key>(q)));

  // Running sums need an ordered dimension: cumsum<batch> does not compile (R13).
  tensor<float, seq> ones({1, 1, 1, 1, 1}, seq{5});
  std::cout << cumsum<seq>(ones);
  return off < 1e-5 ? 0 : 1;
}
