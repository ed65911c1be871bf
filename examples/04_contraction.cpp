// SPDX-License-Identifier: BSL-1.0
// 04_contraction -- products that sum over named dimensions, instead of matmul, einsum or `@`.
//
// `contract<D>` names the dimension it sums over. Parallel dimensions that both operands have are shared; all others
// are free. There is no unnamed product and no transpose.
#include "support/difference.hpp"
#include <dimwise/dimwise.hpp>

#include <cstdio>
#include <iostream>

namespace lesson {
struct batch : dimwise::batch_dim<2> {};
struct seq : dimwise::position_dim<3> {};
struct d_in : dimwise::feature_dim<4> {};
struct d_out : dimwise::feature_dim<2> {};
}  // namespace lesson

using namespace dimwise;
using namespace lesson;

int main() {
  tensor<float, seq, d_in> x({1, 0, 2, 0, 0, 1, 0, 3, 1, 1, 1, 1});
  tensor<float, d_in, d_out> w({1, 2, 3, 4, 5, 6, 7, 8});

  tensor y = contract<d_in>(x, w);
  std::cout << "x: " << describe(x) << '\n';
  std::cout << "w: " << describe(w) << '\n';
  std::cout << "y: " << y;

  // The equivalent loops:
  float plain[3][2] = {};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t o = 0; o < 2; ++o) {
      for (std::size_t f = 0; f < 4; ++f) { plain[i][o] += x.values()[i * 4 + f] * w.values()[f * 2 + o]; }
    }
  }
  std::printf("the loop nest differs by %g\n",
              examples::largest_difference(y.values(), std::span<const float>(&plain[0][0], 6)));

  // A weight in the other memory order gives the same result: dimensions match by name.
  tensor<float, d_out, d_in> stored_otherwise = w;
  tensor same = contract<d_in>(x, stored_otherwise);
  std::printf("with the other memory order it differs by %g\n",
              examples::largest_difference(same.values(), y.values()));

  // A parallel dimension of both operands is shared: each batch element has its own weights.
  tensor<float, batch, seq, d_in> xs = broadcast<batch>(x);
  tensor<float, batch, d_in, d_out> ws({1, 2, 3, 4, 5, 6, 7, 8, 10, 20, 30, 40, 50, 60, 70, 80});
  std::cout << "batched: " << contract<d_in>(xs, ws);

  // Several dimensions, an outer product, and a scalar result.
  std::cout << "over two: " << contract<seq, d_in>(x, x) << '\n';
  std::cout << "outer: " << describe(outer(at<seq>(x, 0), tensor<float, d_out>({1, 10}))) << '\n';

  // Shared positions give a diagonal, which `along` requests explicitly: the squared norm of every position.
  std::cout << "lengths: " << contract<d_in>(x, x, along<seq>{});
  // contract<d_in>(x, x);      // does not compile: seq is shared and not parallel (R2); rename one side
  // contract<d_out>(x, w);     // does not compile: x has no d_out (R1)
}
