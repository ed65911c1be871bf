// SPDX-License-Identifier: BSL-1.0
// 07_masks -- attention masks: causal, window, padding, boolean tensors, and their combinations.
//
// A mask states what is visible. Masks of positions store no elements. Combine masks by `&`, `|`, `!`. A softmax over
// the key side must follow. Masked weights are exactly 0.

#include <dimwise/dimwise.hpp>

#include <iostream>

namespace lesson {
struct batch : dimwise::batch_dim<2> {};
struct seq : dimwise::position_dim<> {};
struct key : dimwise::prime<seq> {};
}  // namespace lesson

using namespace dimwise;
using namespace lesson;

int main() {
  // Equal scores show the mask: each weight is one over the number of visible keys.
  tensor<float, seq, key> s(seq{4}, key{4});

  std::cout << "causal: no key after the query\n";
  std::cout << softmax<key>(masked(s, causal<seq, key>{}));
  // In plain C++:
  //   for (int i = 0; i < n; ++i)
  //     for (int j = 0; j < n; ++j)
  //       if (j > i) s[i][j] = -INFINITY;      // or i > j? both compile

  std::cout << "window: one key before, none after\n";
  std::cout << softmax<key>(masked(s, window<seq, key>{1, 0}));

  // One length per example: the mask adds the parallel dimension batch, as the last one.
  tensor<int, batch> lengths({4, 2});
  auto both = masked(s, causal<seq, key>{} & padding<key>(lengths));
  std::cout << "causal & padding: " << describe(both)
            << '\n';  // masked_for<key>: only a softmax or reduction over key ends it
  tensor<float, batch, seq, key, normalised<key>> a = softmax<key>(both);
  std::cout << a;

  // A tensor of bool needs a polarity: `allow` (true is visible) or `block` (true is hidden, as in PyTorch).
  tensor<bool, key> last({false, false, false, true}, key{4});
  std::cout << "all but the last key\n";
  std::cout << softmax<key>(masked(s, allow_of(block(last))));
  std::cout << "the last key, or those that are causal\n";
  std::cout << softmax<key>(masked(s, allow(last) | causal<seq, key>{}));

  // Decoding: a new query at position 3 sees four keys. `starting_at` sets its origin.
  tensor<float, seq, key> step(starting_at(seq{1}, 3), starting_at(key{4}, 0));
  std::cout << "one new query: " << describe(masked(step, causal<seq, key>{})) << '\n';
  std::cout << softmax<key>(masked(step, causal<seq, key>{}));

  // Reductions take masks as well.
  tensor<float, batch, seq> x({1, 2, 3, 4, 5, 6, 7, 8}, seq{4});
  std::cout << "means of the visible: 4 of the first example, 2 of the second\n";
  std::cout << mean<seq>(x, padding<seq>(lengths));
  // softmax<seq>(masked(s, causal<seq, key>{}));    // does not compile: the mask serves key, not seq (R7)
}
