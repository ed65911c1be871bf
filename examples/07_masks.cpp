// SPDX-License-Identifier: BSL-1.0
// 07_masks -- what may be attended to: causal, window, padding, given masks, and their combinations.
//
// Shows: a mask says what is visible; it relates queries to keys by their positions, holds no elements unless it is
// given, and combines by `&`, `|`, `!`; a softmax over its key side must follow. Masked weights are exactly 0.

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
  // Scores that are all alike make the mask visible: a weight is one over the number of visible keys.
  tensor<float, seq, key> s(seq{4}, key{4});

  std::cout << "causal: no key after the query\n";
  std::cout << softmax<key>(masked(s, causal<seq, key>{}));
  // In plain C++:
  //   for (int i = 0; i < n; ++i)
  //     for (int j = 0; j < n; ++j)
  //       if (j > i) s[i][j] = -INFINITY;      // or is it i > j? both compile

  std::cout << "window: one key before, none after\n";
  std::cout << softmax<key>(masked(s, window<seq, key>{1, 0}));

  // Lengths are one for each example: the mask adds the parallel dimension batch, which comes last.
  tensor<int, batch> lengths({4, 2});
  auto both = masked(s, causal<seq, key>{} & padding<key>(lengths));
  std::cout << "causal & padding: " << describe(both)
            << '\n';  // masked_for<key>: only a softmax or reduction over key ends it
  tensor<float, batch, seq, key, normalised<key>> a = softmax<key>(both);
  std::cout << a;

  // A tensor of bool is no mask until someone says what true means: `allow`, or PyTorch's `block`.
  tensor<bool, key> last({false, false, false, true}, key{4});
  std::cout << "all but the last key\n";
  std::cout << softmax<key>(masked(s, allow_of(block(last))));
  std::cout << "the last key, or those that are causal\n";
  std::cout << softmax<key>(masked(s, allow(last) | causal<seq, key>{}));

  // Decoding: one new query at position 3 sees four keys. The extents say where they begin.
  tensor<float, seq, key> step(starting_at(seq{1}, 3), starting_at(key{4}, 0));
  std::cout << "one new query: " << describe(masked(step, causal<seq, key>{})) << '\n';
  std::cout << softmax<key>(masked(step, causal<seq, key>{}));

  // Reductions take masks too.
  tensor<float, batch, seq> x({1, 2, 3, 4, 5, 6, 7, 8}, seq{4});
  std::cout << "means of the visible: 4 of the first example, 2 of the second\n";
  std::cout << mean<seq>(x, padding<seq>(lengths));
  // softmax<seq>(masked(s, causal<seq, key>{}));    // does not compile: the mask serves key, not seq (R7)
}
