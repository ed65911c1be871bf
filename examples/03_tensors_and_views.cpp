// SPDX-License-Identifier: BSL-1.0
// 03_tensors_and_views -- values from and to std::span, strided pointers and xtensor.
//
// A tensor owns its elements. A view names the dimensions of memory that something else owns. The order in the type is
// the memory order and has no other meaning.

#include <dimwise/dimwise.hpp>
#include <dimwise/tensor/xtensor.hpp>

#include <cstdio>
#include <iostream>
#include <numeric>
#include <span>
#include <vector>

namespace lesson {
struct seq : dimwise::position_dim<> {};
struct d_model : dimwise::feature_dim<4> {};
}  // namespace lesson

using namespace dimwise;
using namespace lesson;

int main() {
  // Values in memory order; the constructor checks their number.
  tensor<float, seq, d_model> x({0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}, seq{3});
  std::cout << "x: " << x;

  // One element, by ids of its dimensions in any order.
  std::printf("feature 2 of position 1 is %g\n", static_cast<double>(x(id<d_model>{2}, id<seq>{1})));

  // Assignment to another order permutes by name. In plain C++, i and j are easily confused:
  //   for (int i = 0; i < 3; ++i)
  //     for (int j = 0; j < 4; ++j) turned[j * 3 + i] = x[i * 4 + j];
  tensor<float, d_model, seq> turned = x;
  std::cout << "turned: " << turned;

  // A view names the dimensions of an existing buffer; nothing is copied.
  std::vector<float> buffer(12);
  std::iota(buffer.begin(), buffer.end(), 0.0F);
  tensor_view<const float, seq, d_model> all(std::span<const float>(buffer), seq{3});
  std::cout << "view: " << describe(all) << '\n';

  // The rows are eight elements apart; the view has four elements of each.
  tensor_view<const float, seq, d_model> every_other(buffer.data(), strides{8, 1}, seq{2});
  std::cout << "every other row: " << every_other;

  // Assign an expression to write a mutable view; extents must agree.
  tensor_view<float, seq, d_model> target(std::span<float>(buffer), seq{3});
  target = x * 2.0F;
  std::printf("the buffer begins %g %g %g %g\n", buffer[0], buffer[1], buffer[2], buffer[3]);

  // From xtensor, as a view or a copy: name its axes in order. Back to xtensor likewise.
  xt::xtensor<float, 2> from = {{1, 2, 3, 4}, {5, 6, 7, 8}};
  tensor doubled = view_xtensor<seq, d_model>(from) + from_xtensor<seq, d_model>(from);
  std::cout << "from xtensor: " << describe(doubled) << '\n';
  xt::xtensor<float, 2> to = to_xtensor(doubled);
  std::printf("xtensor says that its last element is %g\n", static_cast<double>(to(1, 3)));

  // Copy-on-write: copies share memory until one of them is written.
  auto copy = x;
  copy.set(99, id<seq>{0}, id<d_model>{0});
  std::printf("the copy begins with %g, x still with %g\n", static_cast<double>(copy.values()[0]),
              static_cast<double>(x.values()[0]));
}
