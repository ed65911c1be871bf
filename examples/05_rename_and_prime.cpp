// SPDX-License-Identifier: BSL-1.0
// 05_rename_and_prime -- queries and keys are different dimensions of the same extent.
//
// `prime<D>` is another dimension of D's kind, related to D. `rename` converts between the two. `relabel` converts
// between unrelated dimensions of the same extent.

#include <dimwise/dimwise.hpp>

#include <iostream>

namespace lesson {
struct seq : dimwise::position_dim<3> {};
struct key : dimwise::prime<seq> {};         // positions of the keys
struct frame : dimwise::position_dim<3> {};  // the extent of seq, but unrelated to it
struct d_k : dimwise::feature_dim<2> {};
}  // namespace lesson

using namespace dimwise;
using namespace lesson;

// Concepts test a call; in code, a wrong call is one compile error.
template <class From, class To, class X>
concept can_rename = requires(const X& x) {
  { rename<From, To>(x) } -> operand;
};
static_assert(can_rename<seq, key, tensor<float, seq, d_k>>);
static_assert(!can_rename<seq, frame, tensor<float, seq, d_k>>);  // R3: same extent, but not related

int main() {
  tensor<float, seq, d_k> x({1, 2, 3, 4, 5, 6});

  // All pairs of positions need two names.
  auto k = rename<seq, key>(x);
  tensor products = contract<d_k>(x, k);
  std::cout << "x: " << describe(x) << '\n';
  std::cout << "k: " << describe(k) << '\n';
  std::cout << "products: " << products;  // raw: not scaled yet (see 06)

  // In plain C++ only the loop variables differ; with i and j swapped it still compiles:
  //   for (int i = 0; i < 3; ++i)
  //     for (int j = 0; j < 3; ++j)
  //       for (int f = 0; f < 2; ++f) p[i][j] += x[i][f] * x[j][f];

  // A rename moves no elements, and can be reversed.
  std::cout << "and back: " << describe(rename<key, seq>(k)) << '\n';

  // Unrelated dimensions of the same extent do not mix, unless `relabel` says so.
  tensor<float, frame, d_k> video({1, 1, 1, 1, 1, 1});
  // x + video;                // does not compile: neither has all dimensions of the other (R8)
  tensor sum = x + relabel<frame, seq>(video);
  std::cout << "sum: " << sum;
}
