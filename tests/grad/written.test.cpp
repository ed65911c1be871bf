// tests/grad/written.test.cpp -- expr<tracked<T>, shape<…>>: values and gradients are those of the formula.
//
// SPDX-License-Identifier: BSL-1.0
#include "grad/nodes.hpp"

#include <cmath>
#include <optional>

using namespace grad_tests;

namespace {

template <class A, class B>
double farthest(const A& a, const B& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(a.data()[i]) - static_cast<double>(b.data()[i])));
  }
  return worst;
}

// A layer that a header can declare: no template, whatever computes the state.
using state = expr<tracked<float>, shape<batch, d_model>>;
state next_state(const state& h, const expr<tracked<float>, shape<d_model, prime<d_model>>>& w) {
  return tanh(rename<prime<d_model>, d_model>(contract<d_model>(h, w)));
}

}  // namespace

TEST_CASE("the adjoint goes through an expr") {
  const auto x = some<batch, seq, d_model>(1, batch{2}, seq{5});
  CHECK_ADJOINT(x, expr(m));
  CHECK_ADJOINT(x, expr(expr(m) * 2.0));
  CHECK_ADJOINT(x, expr(exp(m)) + tanh(expr(m * m)));
  CHECK_ADJOINT(x, softmax<seq>(expr(m * 0.5)));
  const auto table = some<heads, d_k>(2);
  CHECK_ADJOINT(table, at<heads>(expr(m), 1));
}

TEST_CASE("a formula that is used several times sends once, and the gradient is that of all uses") {
  const auto x = some<d_model>(1);
  CHECK_ADJOINT(x, [&] {
    const expr h = tanh(m);
    const expr g = h * h;
    return g * h + exp(g) - h;
  }());
  CHECK_ADJOINT(x, [&] {
    expr h = m;
    for (int i = 0; i < 40; ++i) { h = (h + h) * 0.5; }  // 2^40 uses
    return h * h;
  }());
}

TEST_CASE("masked attention whose scores are an expr") {
  const auto q = some<heads, seq, d_k>(1, seq{4});
  const auto k = some<heads, key, d_k>(2, key{4});
  const auto v = some<heads, key, d_v>(3, key{4});
  CHECK_ADJOINT(std::tuple(q, k, v), [&] {
    const expr s = masked(scores<d_k>(std::get<0>(m), std::get<1>(m)), causal<seq, key>{});
    const expr w = softmax<key>(s);
    return contract<key>(w, std::get<2>(m));
  }());
  const auto of = [&](auto written) {
    return gradient(std::tuple(q, k, v), [&](const auto& m) {
      const auto& [a, b, c] = m;
      const auto s = masked(scores<d_k>(a, b), causal<seq, key>{});
      if constexpr (decltype(written)::value) {
        return weighed(contract<key>(softmax<key>(expr(s)), expr(c)));
      } else {
        return weighed(contract<key>(softmax<key>(s), c));
      }
    });
  };
  const auto a = of(std::true_type{});
  const auto b = of(std::false_type{});
  CHECK(farthest(std::get<0>(a), std::get<0>(b)) < 1e-12);
  CHECK(farthest(std::get<1>(a), std::get<1>(b)) < 1e-12);
  CHECK(farthest(std::get<2>(a), std::get<2>(b)) < 1e-12);
  // What the mask hides from all queries gets no gradient, though its value is NaN.
  auto odd = v;
  for (std::size_t i = 0; i < odd.size(); ++i) {
    if (i / 3 % 4 == 3) { odd.overwrite()[i] = std::numeric_limits<double>::quiet_NaN(); }
  }
  const auto g = gradient(std::tuple(q, k, odd), [&](const auto& m) {
    const auto& [x, y, z] = m;
    const expr s = masked(scores<d_k>(x, y), causal<seq, key>{});
    const expr w = softmax<key>(s);
    return weighed(slice<seq>(contract<key>(w, z), 0, 3));
  });
  for (std::size_t i = 0; i < std::get<0>(g).size(); ++i) { CHECK(std::isfinite(std::get<0>(g).data()[i])); }
  for (std::size_t i = 0; i < std::get<1>(g).size(); ++i) { CHECK(std::isfinite(std::get<1>(g).data()[i])); }
}

TEST_CASE("a recurrent formula: the number of steps is known at run time") {
  const auto x = drawn<tensor<float, batch, d_model>>(1, batch{2});
  const auto w = drawn<tensor<float, d_model, prime<d_model>>>(2);
  const tensor small = w * 0.2F;
  for (const std::size_t steps : {0, 1, 5, 70}) {
    const auto by_exprs = value_and_gradient(small, [&](const auto& m) {
      state h = x;
      for (std::size_t i = 0; i < steps; ++i) { h = next_state(h, m); }
      return sum<batch, d_model>(h * h) + sum<d_model, prime<d_model>>(m) * 0.0F;
    });
    const auto by_statements = value_and_gradient(small, [&](const auto& m) {
      tensor<tracked<float>, batch, d_model> h = x;
      for (std::size_t i = 0; i < steps; ++i) { h = tanh(rename<prime<d_model>, d_model>(contract<d_model>(h, m))); }
      return sum<batch, d_model>(h * h) + sum<d_model, prime<d_model>>(m) * 0.0F;
    });
    CHECK(by_exprs.value == by_statements.value);
    CHECK(farthest(by_exprs.gradient, by_statements.gradient) < 1e-5);
  }
}

TEST_CASE("the backward pass computes each formula once more, whatever their number") {
  const auto x = some<d_model>(1);
  std::size_t calls = 0;
  const std::size_t steps = 50;
  (void)gradient(x, [&](const auto& m) {
    using T = detail::value_of<std::remove_cvref_t<decltype(m)>>;
    expr<T, shape<d_model>> h = m;
    const tensor<double, d_model> one({1, 1, 1, 1, 1, 1, 1, 1});
    for (std::size_t i = 0; i < steps; ++i) {
      h = tanh(h) * map([&calls](double a) {
        ++calls;
        return a;
      }, one);
    }
    return sum<d_model>(h);
  });
  CHECK(calls > 0);
  CHECK(calls <= 3 * steps * 8);
}

TEST_CASE("long chains are differentiated and destroyed without recursion") {
  const auto x = drawn<tensor<float, d_model>>(1);
  const auto g = gradient(x, [&](const auto& m) {
    expr<tracked<float>, shape<d_model>> h = m;
    for (std::size_t i = 0; i < 20000; ++i) { h = h + 1.0F; }
    return sum<d_model>(h);
  });
  for (std::size_t i = 0; i < g.size(); ++i) { CHECK(g.data()[i] == 1); }
}

TEST_CASE("constants: plain operands of a tracked expr") {
  const auto x = some<d_model>(1);
  const auto y = some<d_model>(2);
  CHECK_ADJOINT(x, [&] {
    using T = detail::value_of<std::remove_cvref_t<decltype(m)>>;
    expr<T, shape<d_model>> h;
    if constexpr (std::is_same_v<T, tracked<float>>) {
      h = tensor<float, d_model>(
          detail::make_node<shape<d_model>, float>(detail::apply<fn::as_real<float>>{}, y.extents(), y));
    } else {
      h = y;
    }
    return expr<T, shape<d_model>>(h * m) + h;
  }());
}

TEST_CASE("an expr of a call that has ended is refused") {
  const auto x = drawn<tensor<float, d_model>>(1);
  std::optional<expr<tracked<float>, shape<d_model>>> kept;
  (void)gradient(x, [&](const auto& m) {
    kept.emplace(m * 2.0F);
    return sum<d_model>(m);
  });
  CHECK_THROWS_AS((void)gradient(x, [&](const auto& m) { return sum<d_model>(m + *kept); }), gradient_error);
  CHECK_THROWS_AS((void)tensor(*kept + 1.0F), gradient_error);
  CHECK(tensor(detached(*kept)).size() == 8);
}

TEST_CASE("explain of a tracked expr") {
  const auto x = drawn<tensor<float, d_model>>(1);
  (void)gradient(x, [&](const auto& m) {
    const expr h = exp(m);
    CHECK(explain(h).derivation().steps().size() == 2);
    return sum<d_model>(h);
  });
}
