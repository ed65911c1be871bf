// SPDX-License-Identifier: BSL-1.0
// The adjoints of softmax, norms, totals and masks, against differences in float64.
#include "grad/nodes.hpp"

#include <cmath>
#include <limits>
#include <vector>

using namespace grad_tests;

TEST_CASE("rows") {
  const auto s = some<batch, heads, seq, key>(1, batch{2}, seq{3}, key{3});
  const auto x = some<batch, seq, d_model>(2, batch{2}, seq{3});
  const auto logits = some<seq, vocab>(3, seq{3}, vocab{5});
  CHECK_ADJOINT(s, softmax<key>(m));
  CHECK_ADJOINT(logits, log_softmax<vocab>(m));
  CHECK_ADJOINT(s, renormalise<key>(exp(m)));
  CHECK_ADJOINT(x, standardize<d_model>(m));
  CHECK_ADJOINT(x, standardize<batch, seq>(m, 1e-3));
  CHECK_ADJOINT(std::tuple(x, some<d_model>(4), some<d_model>(5)),
                layer_norm<d_model>(std::get<0>(m), std::get<1>(m), std::get<2>(m)));
  CHECK_ADJOINT(std::tuple(x, some<d_model>(4)), rms_norm<d_model>(std::get<0>(m), std::get<1>(m)));
  CHECK_ADJOINT(x, cumsum<seq>(m));
  CHECK_ADJOINT(x, cumprod<seq>(m));
}

TEST_CASE("totals, with and without masks") {
  const auto x = some<batch, seq, d_model>(2, batch{2}, seq{4});
  const auto logits = some<seq, vocab>(3, seq{3}, vocab{5});
  const tensor<int, batch> lengths({3, 1}, batch{2});
  const auto seen = padding<seq>(lengths);
  CHECK_ADJOINT(x, sum<seq>(m));
  CHECK_ADJOINT(x, mean<batch, seq>(m));
  CHECK_ADJOINT(x, max<seq>(m));
  CHECK_ADJOINT(x, min<seq, d_model>(m));
  CHECK_ADJOINT(logits, logsumexp<vocab>(m));
  CHECK_ADJOINT(x, mean<seq>(m, seen));
  CHECK_ADJOINT(x, sum<seq>(m, seen));
  CHECK_ADJOINT(x, max<seq>(m, seen));
  CHECK_ADJOINT(x, mean<batch, seq>(square(m)));
  CHECK_ADJOINT(x, norm<d_model>(m));
  CHECK_ADJOINT(x, prod<d_model>(m));
  CHECK_ADJOINT(x, prod<batch, seq>(m));
  CHECK_ADJOINT(x, prod<seq>(m, seen));
  CHECK_ADJOINT(x, norm<batch, seq>(m));
  CHECK_ADJOINT(x, norm<seq>(m, padding<seq>(tensor<int, batch>({3, 1}, batch{2}))));
  CHECK_ADJOINT(x, m / norm<d_model>(m));
}

TEST_CASE("the gradient of a norm is x / norm, 0 at 0, and as exact where squares vanish or overflow") {
  const auto slope_at = [](const std::vector<double>& numbers) {
    const tensor<double, seq> x(numbers, seq{numbers.size()});
    const auto g = gradient(x, [](const auto& m) { return norm<seq>(m); });
    return std::vector<double>(g.values().begin(), g.values().end());
  };
  CHECK(slope_at({0, 0, 0}) == std::vector<double>{0, 0, 0});
  for (const double scale : {1e-322, 1e-300, 1e-200, 1.0, 1e200, 1e307}) {
    CAPTURE(scale);
    const double a = 3 * scale;
    const double b = -4 * scale;
    const auto g = slope_at({a, b});
    const double tolerance = scale < 1e-320 ? 1e-1 : 1e-14;  // such numbers have few bits themselves
    CHECK(std::abs(g[0] - 0.6) < tolerance);
    CHECK(std::abs(g[1] + 0.8) < tolerance);
  }
  const double infinite = std::numeric_limits<double>::infinity();
  const auto g = slope_at({1, infinite});
  CHECK(g[0] == 0);
  CHECK(std::isnan(g[1]));
}

TEST_CASE("the gradient of a product: no zero, one, two; what is discarded sends nothing") {
  const auto slopes_at = [](const std::vector<double>& numbers) {
    const tensor<double, seq> x(numbers, seq{numbers.size()});
    const auto g = gradient(x, [](const auto& m) { return prod<seq>(m); });
    return std::vector<double>(g.values().begin(), g.values().end());
  };
  // torch.autograd.grad(x.prod(), x)
  CHECK(slopes_at({2, 3, 4}) == std::vector<double>{12, 8, 6});
  CHECK(slopes_at({2, 0, 4}) == std::vector<double>{0, 8, 0});
  CHECK(slopes_at({0, 3, 0}) == std::vector<double>{0, 0, 0});
  CHECK(slopes_at({0}) == std::vector<double>{1});
  CHECK(slopes_at({0x1p700, 0x1p-700, 0x1p500, 0}) == std::vector<double>{0, 0, 0, 0x1p500});
  const tensor<double, seq> x({2, 0, 5}, seq{3});
  CHECK_ADJOINT(x, prod<seq>(m));
  const tensor<double, batch, seq> y({2, std::numeric_limits<double>::quiet_NaN(), 3, 5}, batch{2}, seq{2});
  const tensor<double, batch> kept({0, 1}, batch{2});
  const auto g = gradient(y, [&](const auto& m) { return sum<batch>(prod<seq>(m) * kept); });
  CHECK(std::vector<double>(g.values().begin(), g.values().end()) == std::vector<double>{0, 0, 5, 3});
}

TEST_CASE("the gradient of a cumulative product: no zero, one, two; what is discarded sends nothing") {
  const auto slopes_at = [](const std::vector<double>& numbers) {
    const tensor<double, seq> x(numbers, seq{numbers.size()});
    const auto g = gradient(x, [](const auto& m) { return sum<seq>(cumprod<seq>(m)); });
    return std::vector<double>(g.values().begin(), g.values().end());
  };
  // torch.autograd.grad(x.cumprod(0).sum(), x)
  CHECK(slopes_at({2, 3, 4}) == std::vector<double>{16, 10, 6});
  CHECK(slopes_at({2, 0, 4}) == std::vector<double>{1, 10, 0});
  CHECK(slopes_at({0, 3, 0}) == std::vector<double>{4, 0, 0});
  CHECK(slopes_at({}).empty());
  const tensor<double, seq> zeros({2, 0, 5, 0, 7}, seq{5});
  CHECK_ADJOINT(zeros, cumprod<seq>(m));
  const tensor<double, seq> x({2, 3, std::numeric_limits<double>::quiet_NaN(), 5}, seq{4});
  const auto g = gradient(x, [](const auto& m) { return sum<seq>(cumprod<seq>(m), padding<seq>(2)); });
  CHECK(std::vector<double>(g.values().begin(), g.values().end()) == std::vector<double>{4, 2, 0, 0});
}

TEST_CASE("a mask of one part of a sum") {
  using keys = summed<distance, key>;
  const auto s = some<batch, seq, keys>(1, batch{2}, seq{3}, distance{2}, key{3});
  const tensor<int, batch> lengths({1, 0}, batch{2});
  CHECK_ADJOINT(s, softmax<keys>(masked(m, padding<distance>(lengths))));
  CHECK_ADJOINT(s, softmax<keys>(masked(masked(m, padding<distance>(lengths)), causal<seq, key>{})));
  CHECK_ADJOINT(s, sum<keys>(m, padding<distance>(lengths)));
  const auto q = some<batch, seq, d_k>(2, batch{2}, seq{3});
  const auto k = some<batch, keys, d_k>(3, batch{2}, distance{2}, key{3});
  CHECK_ADJOINT(
      std::tuple(q, k),
      contract<keys>(softmax<keys>(masked(scores<d_k>(std::get<0>(m), std::get<1>(m)), padding<distance>(lengths))),
                     std::get<1>(m)));
}

TEST_CASE("masks and biases in front of softmax") {
  const auto s = some<batch, heads, seq, key>(1, batch{2}, seq{4}, key{4});
  const auto pair = some<heads, seq, key>(2, seq{4}, key{4});
  const auto table = some<distance, heads>(3, distance{5});
  const tensor<int, batch> lengths({3, 0}, batch{2});
  const auto causal_mask = causal<seq, key>{};
  CHECK_ADJOINT(s, softmax<key>(masked(m, causal_mask)));
  CHECK_ADJOINT(s, softmax<key>(masked(m, causal_mask & padding<key>(lengths))));
  CHECK_ADJOINT(s, softmax<key>(masked(m, window<seq, key>{1, 1})));
  CHECK_ADJOINT(std::tuple(s, pair), softmax<key>(masked(biased(std::get<0>(m), std::get<1>(m)), causal_mask)));
  CHECK_ADJOINT(std::tuple(s, table),
                softmax<key>(biased(std::get<0>(m), relative_bias<seq, key, distance>(std::get<1>(m)))));
  CHECK_ADJOINT(table, softmax<key>(biased(s, relative_bias<seq, key, distance>(m))));
  CHECK_ADJOINT(s, softmax<key>(biased(m, alibi<seq, key, heads>{})));
}

TEST_CASE("relative_bias: a table of double on scores of float") {
  const auto s =
      evaluate(map([](double v) { return static_cast<float>(v); }, some<heads, seq, key>(1, seq{4}, key{4})));
  const auto table = some<distance, heads>(3, distance{5});
  CHECK_ADJOINT(table, softmax<key>(biased(s, relative_bias<seq, key, distance>(m))));
}

namespace {

// What is hidden has no effect on `attend(queries, keys, values)`, and its gradients are 0, where it is NaN too.
template <class F>
void check_hidden(const F& attend, const tensor<int, batch>& lengths) {
  const auto model =
      std::tuple(some<batch, seq, heads, d_k>(1, batch{2}, seq{4}), some<batch, key, heads, d_k>(2, batch{2}, key{4}),
                 some<batch, key, heads, d_v>(3, batch{2}, key{4}));
  CHECK_ADJOINT(model, attend(m));

  auto spoiled = model;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t b = 0; b < 2; ++b) {
    for (auto i = static_cast<std::size_t>(lengths(id<batch>(b))); i < 4; ++i) {
      for (std::size_t h = 0; h < 2; ++h) {
        std::get<1>(spoiled).set(nan, id<batch>(b), id<key>(i), id<heads>(h), id<d_k>(1));
        std::get<2>(spoiled).set(nan, id<batch>(b), id<key>(i), id<heads>(h), id<d_v>(0));
      }
    }
  }
  const auto loss = [&](const auto& m) { return weighed(attend(m)); };
  // The loops recompute what kernels give for NaN, and add in another order: 64 roundings.
  const auto compare = [&](double roundings) {
    const auto clean = value_and_gradient(model, loss);
    const auto dirty = value_and_gradient(spoiled, loss);
    const double most = roundings * std::numeric_limits<double>::epsilon();
    CHECK(std::abs(clean.value - dirty.value) <= most * std::abs(clean.value));
    for_each_parameter_of([&](const std::string& name, const auto& a, const auto& b) {
      INFO(name);
      for (std::size_t i = 0; i < a.size(); ++i) {
        CHECK(std::abs(a.data()[i] - b.data()[i]) <= most);  // gradients are about 1
        if (a.data()[i] == 0) { CHECK(b.data()[i] == 0); }
      }
    }, clean.gradient, dirty.gradient);
  };
  compare(64);
  const plain_loops only;
  compare(0);
}

}  // namespace

TEST_CASE("attention: what is hidden has no effect and the gradient 0, NaN included") {
  const tensor<int, batch> lengths({3, 0}, batch{2});
  check_hidden([&](const auto& m) {
    const auto& [q, k, v] = m;
    return contract<key>(softmax<key>(masked(scores<d_k>(q, k), padding<key>(lengths))), v);
  }, lengths);
  // A function before the mask has the slope NaN there.
  check_hidden([&](const auto& m) {
    const auto& [q, k, v] = m;
    return contract<key>(softmax<key>(masked(tanh(scores<d_k>(q, k) * 0.5) * 2.0, padding<key>(lengths))), v);
  }, lengths);
}
