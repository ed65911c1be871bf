// SPDX-License-Identifier: BSL-1.0
// A program that imports the module: an attention, its gradient, and a printed tensor. With -DMISTAKE it sums over a
// dimension that the operands lack.
#include <cmath>
#include <cstdio>
#include <iostream>

import dimwise;

using namespace dimwise;

struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_k : feature_dim<4> {};
struct d_v : feature_dim<2> {};

int main() {
  const auto q = random_normal<float, seq, d_k>(random_seed{1}, seq{3});
  const auto k = random_normal<float, key, d_k>(random_seed{2}, key{3});
  const auto v = random_normal<float, key, d_v>(random_seed{3}, key{3});
#if defined(MISTAKE)
  const tensor y = contract<d_v>(q, k);
#else
  const tensor y = contract<key>(softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{})), v);
  const tensor first = at<seq>(y, 0);
  const tensor expected = at<key>(v, 0);  // the first query sees the first key alone
  const bool same =
      std::abs(first.data()[0] - expected.data()[0]) < 1e-6 && std::abs(first.data()[1] - expected.data()[1]) < 1e-6;
  const auto [loss, gradient] = value_and_gradient(q, [&](const auto& x) {
    return sum<seq, d_v>(contract<key>(softmax<key>(masked(scores<d_k>(x, k), causal<seq, key>{})), v));
  });
  std::cout << y << loss << '\n';
  return same && std::isfinite(loss) && gradient.size() == q.size() ? 0 : 1;
#endif
}
