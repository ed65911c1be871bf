// tests/fuzz/formulas/epilogues.cpp -- what follows a product element by element: biases, functions, residuals, in
// any order.
//
// SPDX-License-Identifier: BSL-1.0
#include "fuzz/dims.hpp"

namespace fuzz {

namespace {

class layer {
 public:
  explicit layer(attempt& a)
      : n(a.extents<4>({{0, 130}, {0, 130}, {1, 4}, {0, 49}})),
        x(a, "x", numbers(a.random), repeats::sometimes, seq{n[0]}, d_model{n[1]}),
        w(a, "w", numbers(a.random), repeats::sometimes, d_model{n[1]}, heads{n[2]}, d_k{n[3]}),
        bias(a, "bias", numbers(a.random), repeats::sometimes, heads{n[2]}, d_k{n[3]}),
        bias_of_heads(a, "bias of heads", numbers(a.random), repeats::sometimes, heads{n[2]}),
        residual(a, "residual", numbers(a.random), repeats::sometimes, seq{n[0]}, heads{n[2]}, d_k{n[3]}) {}
  std::array<std::size_t, 4> n;
  held<float, seq, d_model> x;
  held<float, d_model, heads, d_k> w;
  held<float, d_k, heads> bias;
  held<float, heads> bias_of_heads;
  held<float, d_k, heads, seq> residual;

  /// of(x, w, bias, residual): sums of them err by their roundings, and functions no steeper than `slope` pass that on;
  /// `order` puts the product's dimensions into the order of the result.
  template <class F, class Order>
  void check(attempt& a, const F& of, double slope, const Order& order) const {
    compare(a, of(x.view(), w.view(), bias.view(), residual.view()), [&] {
      const auto sum = contract<d_model>(x.magnitudes(), w.magnitudes()) + bias.magnitudes() +
                       bias_of_heads.magnitudes() + residual.magnitudes();
      auto allowed = of_product(order(sum), n[1], 12);
      // A function has roundings of its own, however small its argument is.
      for (double& x1 : allowed.of) { x1 = slope * x1 + 4 * u; }
      return allowed;
    });
  }
  template <class F>
  void check(attempt& a, const F& of, double slope = 1) const {
    check(a, of, slope, [](const auto& sum) { return sum; });
  }
};

const auto projected = [](const auto& x, const auto& w) { return contract<d_model>(x, w); };

const auto like_residual = [](const auto& sum) { return permute<d_k, heads, seq>(sum); };

void plus_bias(attempt& a) {
  const layer o(a);
  o.check(a, [](const auto& x, const auto& w, const auto& b, const auto&) { return projected(x, w) + b; });
}
void bias_before(attempt& a) {
  const layer o(a);
  o.check(a, [&](const auto& x, const auto& w, const auto&, const auto&) {
    return o.bias_of_heads.view() + projected(x, w);
  });
}
void minus_bias(attempt& a) {
  const layer o(a);
  o.check(a, [](const auto& x, const auto& w, const auto& b, const auto&) { return projected(x, w) - b; });
}
void plus_residual(attempt& a) {
  const layer o(a);
  o.check(a, [](const auto& x, const auto& w, const auto&, const auto& r) { return r + projected(x, w); }, 1,
          like_residual);
}
void bias_and_residual(attempt& a) {
  const layer o(a);
  o.check(a, [](const auto& x, const auto& w, const auto& b, const auto& r) { return (projected(x, w) + b) + r; });
}
void two_biases(attempt& a) {
  const layer o(a);
  o.check(a, [&](const auto& x, const auto& w, const auto& b, const auto&) {
    return projected(x, w) + b + o.bias_of_heads.view();
  });
}
void through_relu(attempt& a) {
  const layer o(a);
  o.check(a, [](const auto& x, const auto& w, const auto&, const auto&) { return relu(projected(x, w)); });
}
void through_gelu(attempt& a) {
  const layer o(a);
  o.check(a, [](const auto& x, const auto& w, const auto& b, const auto&) { return gelu(projected(x, w) + b); }, 2);
}
void gelu_tanh_residual(attempt& a) {
  const layer o(a);
  o.check(a, [](const auto& x, const auto& w, const auto& b, const auto& r) {
    return gelu_tanh(projected(x, w) + b) + r;
  }, 2);
}
void residual_silu(attempt& a) {
  const layer o(a);
  o.check(a, [](const auto& x, const auto& w, const auto&, const auto& r) { return r + silu(projected(x, w)); }, 2,
          like_residual);
}
void sigmoid_permuted(attempt& a) {
  const layer o(a);
  o.check(a, [](const auto& x, const auto& w, const auto& b, const auto&) {
    return permute<d_k, seq, heads>(sigmoid(b + projected(x, w)));
  }, 1, [](const auto& s) { return permute<d_k, seq, heads>(s); });
}
void tanh_residual(attempt& a) {
  const layer o(a);
  o.check(a, [](const auto& x, const auto& w, const auto& b, const auto& r) { return tanh(projected(x, w) + b) + r; });
}
// What no chain takes: a residual before the function, a number, a second function.
void residual_then_relu(attempt& a) {
  const layer o(a);
  o.check(a, [](const auto& x, const auto& w, const auto& b, const auto& r) { return relu(projected(x, w) + r) + b; });
}
void number_then_bias(attempt& a) {
  const layer o(a);
  o.check(a, [](const auto& x, const auto& w, const auto& b, const auto&) { return projected(x, w) * 2.0F + b + 1.0F; },
          3);
}
void relu_of_tanh(attempt& a) {
  const layer o(a);
  o.check(a, [](const auto& x, const auto& w, const auto& b, const auto&) { return relu(tanh(projected(x, w))) + b; });
}
// A gated layer: one product times a function of another.
void gated(attempt& a) {
  const layer o(a);
  const auto of = [](const auto& x, const auto& w, const auto& v) {
    return silu(contract<d_model>(x, w)) * contract<d_model>(x, v);
  };
  const held<float, heads, d_model, d_k> v(a, "v", numbers(a.random), repeats::sometimes, d_model{o.n[1]},
                                           heads{o.n[2]}, d_k{o.n[3]});
  compare(a, of(o.x.view(), o.w.view(), v.view()), [&] {
    const auto p = contract<d_model>(o.x.magnitudes(), o.w.magnitudes());
    return of_product(p * contract<d_model>(o.x.magnitudes(), v.magnitudes()), 3 * o.n[1], 16);
  });
}

const families_of_file all{
    {"epilogue.bias", plus_bias},
    {"epilogue.bias_before", bias_before},
    {"epilogue.minus_bias", minus_bias},
    {"epilogue.residual", plus_residual},
    {"epilogue.bias_and_residual", bias_and_residual},
    {"epilogue.two_biases", two_biases},
    {"epilogue.relu", through_relu},
    {"epilogue.gelu", through_gelu},
    {"epilogue.gelu_tanh_residual", gelu_tanh_residual},
    {"epilogue.residual_silu", residual_silu},
    {"epilogue.sigmoid_permuted", sigmoid_permuted},
    {"epilogue.tanh_residual", tanh_residual},
    {"epilogue.residual_then_relu", residual_then_relu},
    {"epilogue.number_then_bias", number_then_bias},
    {"epilogue.relu_of_tanh", relu_of_tanh},
    {"epilogue.gated", gated},
};

}  // namespace

}  // namespace fuzz
