// SPDX-License-Identifier: BSL-1.0
// 02_first_dimension -- dimensions and shapes, and when they are checked.
//
// A dimension is a type with a kind and an extent. The extent is static, or passed to the constructor at run time. A
// tensor's type lists its dimensions. Run-time extents are compared where two tensors meet.

#include <dimwise/dimwise.hpp>

#include <cstdio>
#include <iostream>

namespace lesson {
struct batch : dimwise::batch_dim<> {};            // independent examples; extent known when the program runs
struct seq : dimwise::position_dim<> {};           // positions of a sequence
struct d_model : dimwise::feature_dim<6> {};       // features; static extent 6
struct heads : dimwise::heads_dim<2> {};           // attention heads
struct d_k : dimwise::divided<d_model, heads> {};  // 6 / 2 = 3 features per head
struct key : dimwise::prime<seq> {};               // other positions of the sequence: related to seq, not equal
// struct bad : dimwise::divided<d_model, dimwise::heads_dim<4>> {};      // does not compile: 4 does not divide 6 (R4)
}  // namespace lesson

using namespace dimwise;
using namespace lesson;

static_assert(d_k::static_extent == 3);
static_assert(seq::static_extent == at_run_time);
static_assert(has_dims<tensor<float, seq, d_model>, d_model, seq>);   // which dimensions; the order does not matter
static_assert(!has_dims<tensor<float, seq, d_model>, key, d_model>);  // key is another dimension than seq

int main() {
  // Run-time extents are objects of their dimension, so 2 and 5 cannot be swapped.
  tensor<float, batch, seq, d_model> x(batch{2}, seq{5});
  tensor<float, batch, seq, d_model> same(seq{5}, batch{2});
  tensor<float, d_model, heads, d_k> w;  // all extents are static
  std::cout << "x: " << describe(x) << '\n';
  std::cout << "same: " << describe(same) << '\n';
  std::cout << "w: " << describe(w) << '\n';
  std::printf("x has %zu elements, %zu of them along seq\n", x.size(), extent_of<seq>(x));

  // Run-time extents are compared where two tensors meet, once per operation.
  tensor<float, seq, d_model> longer(seq{7});
  try {
    tensor y = x + longer;
  } catch (const extent_error& e) { std::printf("%s\n", e.what()); }

  // The same in plain C++, where nothing checks that i counts positions and j features:
  //
  //   for (int b = 0; b < 2; ++b)
  //     for (int i = 0; i < 5; ++i)
  //       for (int j = 0; j < 6; ++j) y[(b * 5 + i) * 6 + j] = x[(b * 5 + i) * 6 + j] + bias[j];
  tensor<float, d_model> bias({1, 2, 3, 4, 5, 6});
  tensor y = x + bias;  // broadcast by name over batch and seq
  std::cout << "y = x + bias: " << describe(y) << '\n';
  std::cout << at<batch>(y, 0);
}
