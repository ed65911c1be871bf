// SPDX-License-Identifier: BSL-1.0
// 30_written_expressions -- expr<T, shape<…>>: an expression whose type can be written.
//
// `attention_weights` and `mix` stand in a source file of their own in a larger program: a header declares them, and
// files that call them do not compile their formulas.
#include <dimwise/dimwise.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <vector>

namespace lesson {
struct seq : dimwise::position_dim<> {};
struct key : dimwise::prime<seq> {};
struct d_k : dimwise::feature_dim<4> {};
struct layers : dimwise::heads_dim<> {};
}  // namespace lesson

using namespace dimwise;
using namespace lesson;

// A header would have these lines.
using rows_of = shape<seq, d_k>;
using weights_of = shape<seq, key, normalised<key>>;
expr<float, weights_of> attention_weights(const expr<float, rows_of>& q, const expr<float, shape<key, d_k>>& k);
expr<float, rows_of> mix(const expr<float, weights_of>& w, const expr<float, shape<key, d_k>>& v);

// An expression as a member.
struct layer {
  float residual;
  expr<float, rows_of> operator()(const expr<float, rows_of>& x) const {
    const expr keys = rename<seq, key>(x);
    return x * residual + mix(attention_weights(x, keys), keys);
  }
};

int main() {
  const tensor<float, seq, d_k> x({1, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0}, seq{3});

  // A loop: the number of layers is known at run time. Nothing is computed yet.
  const std::vector<layer> model{{0.5F}, {0.25F}, {1.0F}};
  expr h = x;
  std::vector<expr<float, rows_of>> states{h};
  for (const layer& each : model) {
    h = each(h);
    states.push_back(h);
  }
  std::cout << "after " << model.size() << " layers: " << h;

  // All states as one tensor: each formula is computed once, although every later state contains it.
  const tensor all = stack<layers>(states);
  std::cout << describe(all) << '\n';

  // An expr explains the formula behind it.
  const explanation steps = explain(attention_weights(x, rename<seq, key>(x)));
  for (const auto& step : steps.derivation().steps()) { std::cout << step.what << '\n'; }

  // The same formula in one piece gives the same numbers.
  const tensor<float, key, d_k> k = rename<seq, key>(x);
  const tensor one = x * 0.5F + contract<key>(softmax<key>(masked(scores<d_k>(x, k), causal<seq, key>{})), k);
  const tensor same = states[1];
  float off = 0;
  for (std::size_t i = 0; i < one.size(); ++i) { off = std::max(off, std::abs(one.values()[i] - same.values()[i])); }
  std::printf("the formula in one piece agrees: %s\n", off < 1e-6F ? "yes" : "no");
  return off < 1e-6F ? 0 : 1;
}

// A source file would have these.
expr<float, weights_of> attention_weights(const expr<float, rows_of>& q, const expr<float, shape<key, d_k>>& k) {
  return softmax<key>(masked(scores<d_k>(q, k), causal<seq, key>{}));
}
expr<float, rows_of> mix(const expr<float, weights_of>& w, const expr<float, shape<key, d_k>>& v) {
  return contract<key>(w, v);
}
