// tests/expr/node.test.cpp -- every expression offers its children to a visitor.
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/dimwise.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace dimwise;

namespace {

struct batch : batch_dim<> {};
struct seq : position_dim<> {};
struct key : prime<seq> {};
struct d_k : feature_dim<> {};

// The operations of an expression, children first; a leaf is "t", a mask or a bias made from positions "m".
template <class N>
std::string walked(const N& n) {
  std::string all;
  if constexpr (expression<N>) {
    n.each_child([&all](const auto& x) { all += walked(x) + " "; });
    all += detail::operation_of<N>::name;
  } else if constexpr (operand<N>) {
    all = "t";
  } else {
    n.each_child([&all](const auto& x) { all += walked(x) + " "; });
    all += "m";
  }
  return all;
}

}  // namespace

TEST_CASE("children are walked in order, those of masks too") {
  const tensor<float, batch, seq, d_k> q(batch{1}, seq{2}, d_k{4});
  const tensor<float, batch, key, d_k> k(batch{1}, key{2}, d_k{4});
  const tensor<int, batch> lengths(batch{1});
  CHECK(walked(q) == "t");
  CHECK(walked(relu(q) + 1.0F) == "t relu number +");
  const auto s = masked(scores<d_k>(q, k), causal<seq, key>{} & padding<key>(lengths));
  CHECK(walked(softmax<key>(s)) == "t t contract number * marks m t m m mask softmax");
}

TEST_CASE("an expression that was moved from keeps its meaning") {
  const tensor<float, batch> x({1.0F, 2.0F}, batch{2});
  auto e = x + x;
  const auto moved = std::move(e);
  CHECK(tensor(e)(dimwise::id<batch>{1}) == 4.0F);
  CHECK(tensor(moved)(dimwise::id<batch>{1}) == 4.0F);
}
