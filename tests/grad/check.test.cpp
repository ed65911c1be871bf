// SPDX-License-Identifier: BSL-1.0
// `check_gradient` compares the gradient that the program computes: of a model of floats, the one of the kernels.
#include "grad/formulas/missing_dimensions.hpp"
#include <dimwise/nn.hpp>

#include <cmath>
#include <limits>

using namespace grad_tests;

namespace {

struct source : position_dim<> {};
using attention_type = nn::multi_head_attention<d_model, heads, d_k, d_v>;

std::size_t attentions(const context& cx) { return cx.counts()[plan_kind::attention] + cx.counts()[plan_kind::decode]; }

}  // namespace

TEST_CASE("learned queries that lack the batch of what they attend to") {
  const auto memory = drawn<tensor<float, batch, source, d_model>>(1, batch{2}, source{5});
  const auto module = nn::initialised<nn::cross_attention<seq, source, attention_type>>(nn::normal(3, 0.5));
  const std::tuple model(module, drawn<tensor<float, seq, d_model>>(2, seq{4}));
  context cx;
  const use_context scope(cx);
  const auto check = check_gradient(model, [&](const auto& m) {
    const auto& [attend, latents] = m;
    return missing::uneven_total(attend(latents, memory));
  });
  INFO(check.where, ": ", check.gradient, " against ", check.difference);
  CHECK(check.elements > 100);
  CHECK(check.error < 1e-8);
  CHECK(attentions(cx) >= 2);  // forward, and backward
}

TEST_CASE("attention pooling: one learned query, by nn::attention and by words") {
  const auto keys = drawn<tensor<float, batch, key, d_k>>(1, batch{2}, key{3});
  const auto query = drawn<tensor<float, d_k>>(2);
  const auto by_module = [&](const auto& q) { return missing::uneven_total(nn::attention<d_k, key>(q, keys, keys)); };
  const auto by_words = [&](const auto& q) {
    return missing::uneven_total(contract<key>(softmax<key>(scores<d_k>(q, keys)), keys));
  };
  context cx;
  const use_context scope(cx);
  CHECK(check_gradient(query, by_module).error < 1e-8);
  CHECK(attentions(cx) >= 2);
  cx.reset_counts();
  CHECK(check_gradient(query, by_words).error < 1e-8);
  CHECK(attentions(cx) >= 2);
}

TEST_CASE("what a program computes in float is compared, beyond its rounding") {
  const auto x = drawn<tensor<float, d_k>>(1);
  const auto loss = [](const auto& m) { return sum<d_k>(square(m) * m); };
  const auto check = check_gradient(x, loss);
  CHECK(check.elements == x.size());
  CHECK(check.error < 1e-8);
  CHECK(check_gradient(x, loss, {.rounding = 0}).error > 1e-8);  // roundings of float
}

TEST_CASE("a gradient that is NaN stays the worst") {
  auto x = drawn<tensor<double, d_k>>(1);
  x.set(std::numeric_limits<double>::quiet_NaN(), id<d_k>(0));
  CHECK(std::isnan(check_gradient(x, [](const auto& m) { return sum<d_k>(square(m)); }).error));
}
