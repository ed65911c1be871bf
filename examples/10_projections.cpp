// SPDX-License-Identifier: BSL-1.0
// 10_projections -- the input and output sides of weights, square ones included.
//
// A projection contracts the input dimension of its weight. `out<D>` is the output side of a square weight; a
// contraction over D renames it to D. The transposed product does not compile.

#include <dimwise/dimwise.hpp>

#include <iostream>

namespace lesson {
struct seq : dimwise::position_dim<2> {};
struct d_model : dimwise::feature_dim<3> {};
struct d_ff : dimwise::feature_dim<4> {};
}  // namespace lesson

using namespace dimwise;
using namespace lesson;

template <class D, class X, class W>
concept applies = requires(const X& x, const W& w) {
  { contract<D>(x, w) } -> operand;
};
using square_weight = tensor<float, d_model, out<d_model>>;
static_assert(applies<d_model, tensor<float, seq, d_model>, square_weight>);
static_assert(!applies<out<d_model>, tensor<float, seq, d_model>, square_weight>);  // R12: transposed

int main() {
  tensor<float, seq, d_model> x({1, 2, 3, 4, 5, 6});

  // A feed-forward block, d_model -> d_ff -> d_model, with relu between the two layers.
  tensor<float, d_model, d_ff> w_1({1, 0, 0, -1, 0, 1, 0, -1, 0, 0, 1, -1});
  tensor<float, d_ff, d_model> w_2({1, 0, 0, 0, 1, 0, 0, 0, 1, 9, 9, 9});
  tensor<float, d_ff> b_1({0.5F, 0.5F, 0.5F, 0.5F});
  auto hidden = relu(contract<d_model>(x, w_1) + b_1);
  std::cout << "hidden: " << hidden;
  std::cout << "and back: " << contract<d_ff>(hidden, w_2);

  // A square weight that moves feature i to feature i + 1. Rows are inputs, as in the type.
  square_weight shift({0, 1, 0, 0, 0, 1, 1, 0, 0});
  tensor y = contract<d_model>(x, shift);
  std::cout << "shift: " << describe(shift) << '\n';
  std::cout << "x through shift: " << y;
  // With arrays, `x @ W` and `x @ W.T` both run. In plain C++ they differ in one pair of indices:
  //   y[i][o] += x[i][f] * w[f][o];      // right
  //   y[i][o] += x[i][f] * w[o][f];      // the transpose, also square

  // A checkpoint that stores [output, input] has the same dimensions in the other order.
  tensor<float, out<d_model>, d_model> stored = shift;
  std::cout << "stored: " << describe(stored) << '\n';
  std::cout << contract<d_model>(x, stored);

  // Apply the same weight three times.
  std::cout << contract<d_model>(contract<d_model>(contract<d_model>(x, shift), shift), shift);
}
