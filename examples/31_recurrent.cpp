// SPDX-License-Identifier: BSL-1.0
// 31_recurrent -- recurrent formulas: a number of steps known at run time, and its gradient.
//
// A recurrent network, h[t] = tanh(W h[t-1] + U x[t]) (Elman 1990), and a linear recurrence that is written position by
// position into a tensor. `check_gradient` compares their gradients with differences.
#include <dimwise/dimwise.hpp>
#include <dimwise/grad.hpp>

#include <cstdio>
#include <iostream>
#include <tuple>
#include <vector>

namespace lesson {
struct batch : dimwise::batch_dim<2> {};
struct seq : dimwise::position_dim<> {};
struct inputs : dimwise::feature_dim<3> {};
struct states : dimwise::feature_dim<4> {};
struct neighbours : dimwise::position_dim<2> {};
}  // namespace lesson

using namespace dimwise;
using namespace lesson;

// The states at all positions. The state is an `expr`: its type stays the same, whatever the number of steps.
template <class T, class X, class U, class W>
auto recurrent_states(const X& x, const U& u, const W& w) {
  expr<T, shape<batch, states>> h = tensor<T, batch, states>();
  std::vector<expr<T, shape<batch, states>>> all;
  for (const auto& input : unstack<seq>(x)) {
    h = tanh(contract<inputs>(input, u) + contract<states>(h, w));
    all.push_back(h);
  }
  return stack<seq>(all);
}

// y[t] = a y[t-1] + x[t], written in place.
template <class A, class X>
auto decayed(const A& decay, const X& x) {
  tensor y = x;
  for (std::size_t t = 1; t < extent_of<seq>(x); ++t) {
    assign_at<seq>(y, t, decay * at<seq>(y, t - 1) + at<seq>(x, t));
  }
  return y;
}

int main() {
  nn::random numbers(1);
  const auto drawn = [&](auto t) {
    for (float& each : std::span(t.overwrite(), t.size())) { each = static_cast<float>(numbers.normal()) * 0.5F; }
    return t;
  };
  const auto x = drawn(tensor<float, batch, seq, inputs>(seq{6}));
  const auto u = drawn(tensor<float, inputs, states>());
  const auto w = drawn(tensor<float, states, out<states>>());
  std::cout << "states: " << describe(recurrent_states<float>(x, u, w)) << '\n';

  // The gradient of a loss by both weights.
  const auto loss = [&](const auto& m) {
    const auto& [input_weights, state_weights] = m;
    using T = typename std::remove_cvref_t<decltype(input_weights)>::value_type;
    return mean<batch, seq, states>(square(recurrent_states<T>(x, input_weights, state_weights)));
  };
  const gradient_check of_network = check_gradient(std::tuple(u, w), loss);
  std::printf("recurrent network: %zu derivatives agree with differences: %s\n", of_network.elements,
              of_network.error < 1e-6 ? "yes" : "no");

  const auto decay = drawn(tensor<float, states>());
  const auto y = drawn(tensor<float, batch, seq, states>(seq{6}));
  const gradient_check of_recurrence = check_gradient(decay, [&](const auto& a) {
    const tensor<typename std::remove_cvref_t<decltype(a)>::value_type, batch, seq, states> given = y;
    return mean<batch, seq, states>(square(decayed(a, given)));
  });
  std::printf("linear recurrence: %zu derivatives agree with differences: %s\n", of_recurrence.elements,
              of_recurrence.error < 1e-6 ? "yes" : "no");

  // Every second pair of neighbours: windows with a stride.
  std::cout << "windows: " << describe(unroll<seq, neighbours>(y, stride<2>{})) << '\n';
  return of_network.error < 1e-6 && of_recurrence.error < 1e-6 ? 0 : 1;
}
