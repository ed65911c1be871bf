// SPDX-License-Identifier: BSL-1.0
// 08_split_and_merge -- merged and summed dimensions: factors and their order are part of the type.
//
// There is no reshape by extents. `merged<heads, d_k>` records its factors, so that it is split as it was merged.
// `summed<P, Q>` records concatenated parts.
#include "support/difference.hpp"
#include <dimwise/dimwise.hpp>

#include <cstdio>
#include <iostream>

namespace lesson {
struct seq : dimwise::position_dim<2> {};
struct heads : dimwise::heads_dim<3> {};
struct d_k : dimwise::feature_dim<2> {};
struct d_q_all : dimwise::feature_dim<2> {};
struct d_k_all : dimwise::feature_dim<2> {};
struct d_v_all : dimwise::feature_dim<3> {};
using qkv = dimwise::summed<d_q_all, d_k_all, d_v_all>;
}  // namespace lesson

using namespace dimwise;
using namespace lesson;

template <class X>
concept splits_into_d_k_heads = requires(const X& x) {
  { split<d_k, heads>(x) } -> operand;
};
static_assert(!splits_into_d_k_heads<tensor<float, seq, merged<heads, d_k>>>);  // R4: merged in the other order

int main() {
  // A packed projection has all heads in one dimension. Element 5 is head 2, feature 1: the first factor is the
  // slowest.
  tensor<float, seq, merged<heads, d_k>> packed({0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121});
  std::cout << "packed: " << packed;

  auto parted = split<heads, d_k>(packed);
  std::cout << "split: " << parted;
  // The classic mistake, x.reshape(2, 2, 3), has the same 12 elements and mixes heads and features. In plain C++:
  //   head = j / 2, feature = j % 2      // right
  //   head = j % 3, feature = j / 3      // wrong, with the same number of elements

  // `merge` finds its dimensions by name, so no transpose is needed before it.
  tensor<float, heads, seq, d_k> by_head = parted;
  std::cout << "by head: " << describe(by_head) << '\n';
  tensor<float, seq, merged<heads, d_k>> again = merge<heads, d_k>(by_head);
  std::cout << "merged again: " << describe(again) << '\n';
  std::printf("the same elements: %s\n",
              examples::largest_difference(again.values(), packed.values()) == 0 ? "yes" : "no");

  // Queries, keys and values from one product: parts of any extent, selected by name.
  tensor<float, seq, qkv> fused({1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 14, 15, 16, 17});
  std::cout << "fused: " << describe(fused) << '\n';
  std::cout << "its values: " << part<d_v_all>(fused);
}
