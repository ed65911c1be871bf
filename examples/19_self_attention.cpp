// SPDX-License-Identifier: BSL-1.0
// 19_self_attention -- variants of self-attention, from one query to a layer over a batch.
//
// `attention<d_k, key>(q, k, v)` for one and for many queries, with and without projections; modules as plain structs;
// a non-standard scale, stated explicitly.

#include <dimwise/dimwise.hpp>

#include <cmath>
#include <iostream>
#include <string>

namespace lesson {
struct batch : dimwise::batch_dim<> {};
struct word : dimwise::position_dim<> {};
struct key : dimwise::prime<word> {};       // tokens as keys
struct other : dimwise::position_dim<> {};  // tokens of another sentence
struct d_model : dimwise::feature_dim<4> {};
struct heads : dimwise::heads_dim<2> {};
struct d_k : dimwise::divided<d_model, heads> {};
struct d_v : dimwise::divided<d_model, heads> {};
struct d_q : dimwise::feature_dim<3> {};  // a single head may have any width
struct d_c : dimwise::feature_dim<5> {};
}  // namespace lesson

using namespace dimwise;
using namespace lesson;

namespace {

// Self-attention of one head, no biases: W_q, W_k, W_v.
struct one_head {
  nn::linear<nn::from<d_model>, nn::to<d_q>, nn::no_bias> query, key_of;
  nn::linear<nn::from<d_model>, nn::to<d_c>, nn::no_bias> value;

  template <has_dims<word, d_model> X, class... How>
  auto operator()(const X& x, const How&... how) const {
    const auto there = rename<word, key>(x);
    return tensor(nn::attention<d_q, key>(query(x), key_of(there), value(there), how...));
  }
};

// One head over a batch that divides by √d_model instead of √d_k, explicitly.
struct batch_layer {
  nn::linear<nn::from<d_model>, nn::to<d_q>, nn::no_bias> query, key_of;
  nn::linear<nn::from<d_model>, nn::to<d_c>, nn::no_bias> value;

  template <has_dims<batch, word, d_model> X>
  auto operator()(const X& x) const {
    const auto there = rename<word, key>(x);
    const double scale = 1 / std::sqrt(static_cast<double>(extent_of<d_model>(x)));
    return tensor(nn::attention<d_q, key>(query(x), key_of(there), value(there), nn::scaled_by{scale}));
  }
};

using many_heads = nn::multi_head_attention<d_model, heads, d_k, d_v, nn::no_bias>;
using own_attention = nn::self_attention<word, key, many_heads>;
using other_attention = nn::cross_attention<word, other, many_heads>;

}  // namespace

int main() {
  // Embeddings of four tokens.
  const tensor<float, word, d_model> x({1, 0, 1, 0, 0, 2, 0, 2, 1, 1, 1, 1, 0, 1, 2, 0}, word{4});
  const auto there = rename<word, key>(x);

  std::cout << "-- One query attends to all words; their vectors are keys and values\n";
  const auto query = at<word>(x, 0);
  std::cout << softmax<key>(scores<d_model>(query, there));
  std::cout << nn::attention<d_model, key>(query, there, there);

  std::cout << "-- Every word is a query: self-attention without projections\n";
  const tensor mixed = nn::attention<d_model, key>(x, there, there);
  std::cout << "mixed: " << mixed;

  std::cout << "-- With projections: one head, first with all words visible, then only those before\n";
  nn::xavier_uniform how(1);
  one_head head;
  nn::initialise(head.query, how);
  nn::initialise(head.key_of, how);
  nn::initialise(head.value, how);
  std::cout << head(x);
  std::cout << head(x, causal<word, key>{});

  std::cout << "-- Several heads, and what brings them together again\n";
  const auto attention = nn::initialised<own_attention>(how);
  std::cout << attention(x);
  std::cout << attention(x, causal<word, key>{});
  std::cout << "weights: " << describe(attention.weights(x)) << '\n';
  nn::for_each_parameter(
      attention, [](const std::string& name, const auto& t) { std::cout << name << ": " << describe(t) << '\n'; });

  std::cout << "-- A batch, scaled by the width of the model\n";
  const tensor<float, batch, word, d_model> two = broadcast<batch>(x, batch{2});
  const batch_layer layer{head.query, head.key_of, head.value};
  std::cout << "layer: " << layer(two);

  std::cout << "-- Six words attend to eight of another sentence\n";
  tensor<float, word, d_model> six(word{6});
  tensor<float, other, d_model> eight(other{8});
  six.fill(0.5F);
  eight.fill(0.25F);
  const auto cross = nn::initialised<other_attention>(how);
  std::cout << "cross: " << describe(cross(six, eight)) << '\n';
  std::cout << "its weights: " << describe(cross.weights(six, eight)) << '\n';
}
