// SPDX-License-Identifier: BSL-1.0
// 02_first_dimension -- dimensions, shapes, and what is checked when.
//
// Shows: a dimension is a type with a kind and an extent; the extent is known to the compiler, or given once when the
// program runs; a tensor's type lists its dimensions; extents that disagree are found where two tensors meet.

#include <dimwise/dimwise.hpp>

#include <cstdio>
#include <iostream>

namespace lesson {
struct batch : dimwise::batch_dim<> {};            // examples side by side; extent known when the program runs
struct seq : dimwise::position_dim<> {};           // positions of a sequence
struct d_model : dimwise::feature_dim<6> {};       // features; the compiler knows that there are 6
struct heads : dimwise::heads_dim<2> {};           // heads of attention
struct d_k : dimwise::divided<d_model, heads> {};  // 6 / 2 = 3 features for each head
struct key : dimwise::prime<seq> {};               // the other positions of the sequence: related, but not the same
// struct bad : dimwise::divided<d_model, dimwise::heads_dim<4>> {};      // does not compile: 4 does not divide 6 (R4)
}  // namespace lesson

using namespace dimwise;
using namespace lesson;

static_assert(d_k::static_extent == 3);
static_assert(seq::static_extent == at_run_time);
static_assert(has_dims<tensor<float, seq, d_model>, d_model, seq>);   // which dimensions; the order does not matter
static_assert(!has_dims<tensor<float, seq, d_model>, key, d_model>);  // key is another dimension than seq

int main() {
  // Run-time extents are objects of their dimension: nobody can swap the 2 and the 5 unnoticed.
  tensor<float, batch, seq, d_model> x(batch{2}, seq{5});
  tensor<float, batch, seq, d_model> same(seq{5}, batch{2});
  tensor<float, d_model, heads, d_k> w;  // all extents known: nothing to give
  std::cout << "x: " << describe(x) << '\n';
  std::cout << "same: " << describe(same) << '\n';
  std::cout << "w: " << describe(w) << '\n';
  std::printf("x has %zu elements, %zu of them along seq\n", x.size(), extent_of<seq>(x));

  // Where two tensors meet, the extents that only the run knows are compared, once for each operation.
  tensor<float, seq, d_model> longer(seq{7});
  try {
    tensor y = x + longer;
  } catch (const extent_error& e) { std::printf("%s\n", e.what()); }

  // A lesson in plain C++ looks like this; that i counts positions and j features is in the programmer's head alone:
  //
  //   for (int b = 0; b < 2; ++b)
  //     for (int i = 0; i < 5; ++i)
  //       for (int j = 0; j < 6; ++j) y[(b * 5 + i) * 6 + j] = x[(b * 5 + i) * 6 + j] + bias[j];
  tensor<float, d_model> bias({1, 2, 3, 4, 5, 6});
  tensor y = x + bias;  // by name: the same bias for every batch and seq
  std::cout << "y = x + bias: " << describe(y) << '\n';
  std::cout << at<batch>(y, 0);
}
