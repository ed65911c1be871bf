// SPDX-License-Identifier: BSL-1.0
// 05_rename_and_prime -- identity is not extent: queries and keys are different positions of one sequence.
//
// Shows: `prime<D>` is another dimension of D's kind, related to it; `rename` goes between the two; `relabel` is the
// visible exception for everything else of the same extent.

#include <dimwise/dimwise.hpp>

#include <iostream>

namespace lesson {
struct seq : dimwise::position_dim<3> {};
struct key : dimwise::prime<seq> {};         // the positions attended to
struct frame : dimwise::position_dim<3> {};  // as long as seq, and unrelated to it
struct d_k : dimwise::feature_dim<2> {};
}  // namespace lesson

using namespace dimwise;
using namespace lesson;

// The concept checks a call by name; in code, the compiler refuses such a call with one error.
template <class From, class To, class X>
concept can_rename = requires(const X& x) {
  { rename<From, To>(x) } -> operand;
};
static_assert(can_rename<seq, key, tensor<float, seq, d_k>>);
static_assert(!can_rename<seq, frame, tensor<float, seq, d_k>>);  // R3: as long, but not related

int main() {
  tensor<float, seq, d_k> x({1, 2, 3, 4, 5, 6});

  // Every position against every position needs two names for them.
  auto k = rename<seq, key>(x);
  tensor products = contract<d_k>(x, k);
  std::cout << "x: " << describe(x) << '\n';
  std::cout << "k: " << describe(k) << '\n';
  std::cout << "products: " << products;  // raw: not scaled yet, see 06

  // In plain C++ the two are distinguished by the loop variable; swap i and j below, and it still compiles:
  //   for (int i = 0; i < 3; ++i)
  //     for (int j = 0; j < 3; ++j)
  //       for (int f = 0; f < 2; ++f) p[i][j] += x[i][f] * x[j][f];

  // A name costs nothing: no element moves. The way back is open as well.
  std::cout << "and back: " << describe(rename<key, seq>(k)) << '\n';

  // Other dimensions of the same extent stay apart, unless the program says so where everyone can see it.
  tensor<float, frame, d_k> video({1, 1, 1, 1, 1, 1});
  // x + video;                // does not compile: neither has all dimensions of the other (R8)
  tensor sum = x + relabel<frame, seq>(video);
  std::cout << "sum: " << sum;
}
