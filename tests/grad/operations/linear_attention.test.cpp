// SPDX-License-Identifier: BSL-1.0
// Linear attention: its gradients against differences in float64, with every update, and of a state that goes on.
#include "grad/nodes.hpp"

using namespace grad_tests;

namespace {

using state_type = nn::linear_state<double, batch, heads, d_k, d_v>;
struct operands {
  tensor<double, batch, seq, heads, d_k> q = some<batch, seq, heads, d_k>(1, batch{2}, seq{4});
  tensor<double, batch, seq, heads, d_k> k = some<batch, seq, heads, d_k>(2, batch{2}, seq{4});
  tensor<double, batch, seq, heads, d_v> v = some<batch, seq, heads, d_v>(3, batch{2}, seq{4});
  tensor<double, batch, seq, heads> beta = sigmoid(some<batch, seq, heads>(4, batch{2}, seq{4}));
  tensor<double, batch, seq, heads, d_k> decay = -abs(some<batch, seq, heads, d_k>(5, batch{2}, seq{4}));
  state_type begin = some<batch, heads, d_k, d_v>(6, batch{2});
};

}  // namespace

TEST_CASE("linear attention: queries, keys, values, decays and corrections") {
  const operands x;
  const auto model = std::tuple(x.q, x.k, x.v, x.decay, x.beta);
  CHECK_ADJOINT(model, [&] {
    const auto& [q, k, v, decay, beta] = m;
    auto state = x.begin;
    return nn::linear_attention<seq, d_k>(q, k, v, state, nn::gated_delta_update{decay, beta});
  }());
  CHECK_ADJOINT(x.q, [&] {
    auto state = x.begin;
    return nn::linear_attention<seq, d_k>(m, x.k, x.v, state);
  }());
  CHECK_ADJOINT(std::tuple(x.k, x.decay), [&] {
    auto state = x.begin;
    return nn::linear_attention<seq, d_k>(x.q, std::get<0>(m), x.v, state, nn::gated_update{std::get<1>(m)}, 0.5);
  }());
}

TEST_CASE("linear attention: a state that is tracked goes on") {
  const operands x;
  CHECK_ADJOINT(std::tuple(x.begin, x.v), [&] {
    auto state = std::get<0>(m);
    const tensor first = nn::linear_attention<seq, d_k>(x.q, x.k, std::get<1>(m), state);
    return tensor(first + nn::linear_attention<seq, d_k>(x.k, x.q, first * 0.1, state, nn::delta_update{x.beta}));
  }());
}

TEST_CASE("linear attention: tracked operands give the values of plain ones") {
  const plain_loops only;  // to the bit: kernels add in another order
  const operands x;
  auto state = x.begin;
  const tensor expected = nn::linear_attention<seq, d_k>(x.q, x.k, x.v, state, nn::gated_update{x.decay});
  auto other = x.begin;
  (void)gradient(x.v, [&](const auto& m) {
    const tensor y = nn::linear_attention<seq, d_k>(x.q, x.k, m, other, nn::gated_update{x.decay});
    CHECK(std::equal(expected.data(), expected.data() + expected.size(), detail::untracked_of(y).data()));
    return sum<batch, seq, heads, d_v>(y);
  });
  CHECK(std::equal(state.data(), state.data() + state.size(), std::as_const(other).data()));
}
