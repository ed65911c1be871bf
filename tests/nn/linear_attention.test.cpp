// tests/nn/linear_attention.test.cpp -- every update rule against loops in double, and against ONNX's numbers.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/numbers.hpp"
#include "support/pack.hpp"
#include <dimwise/nn/linear_attention.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

namespace {

using namespace dimwise;
using namespace dimwise_test;

struct batch : batch_dim<> {};
struct kv_heads : heads_dim<> {};
struct shared : heads_dim<> {};  // query heads of one state
struct seq : position_dim<> {};
struct d_k : feature_dim<> {};
struct d_v : feature_dim<> {};

using state = nn::linear_state<float, batch, kv_heads, d_k, d_v>;

template <class Tensor, class... Extents>
Tensor read(const packed_array& data, const Extents&... extents) {
  const auto values = data.converted<float>();
  return Tensor(values, extents...);
}

// The recurrence in double; rules by what is given.
struct by_loops {
  std::vector<double> s;
  std::size_t n, m;  // features of keys and of values
  void step(const double* k, const double* v, const double* decay, const double* beta) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < m; ++j) { s[i * m + j] *= std::exp(decay[i]); }
    }
    for (std::size_t j = 0; j < m; ++j) {
      double known = 0;
      for (std::size_t i = 0; i < n; ++i) { known += k[i] * s[i * m + j]; }
      const double added = beta == nullptr ? v[j] : *beta * (v[j] - known);
      for (std::size_t i = 0; i < n; ++i) { s[i * m + j] += k[i] * added; }
    }
  }
};

}  // namespace

TEST_CASE("linear_attention: ONNX's cases") {
  const pack onnx{data_file("onnx.dwpack")};
  std::size_t cases = 0;
  for (const auto& entry : onnx.cases()) {
    if (entry.at("op") != "LinearAttention") { continue; }
    const auto name = entry.at("name").get<std::string>();
    CAPTURE(name);
    ++cases;
    const auto& attributes = entry.at("attributes");
    const auto given = [&](const char* which) -> const packed_array* {
      const std::string array = name + "/in." + which;
      return onnx.contains(array) ? &onnx.at(array) : nullptr;
    };
    const std::size_t h = attributes.at("kv_num_heads").get<std::size_t>();
    const std::size_t groups = attributes.at("q_num_heads").get<std::size_t>() / h;
    const auto* q_data = given("query");
    const std::size_t b = q_data->shape[0];
    const std::size_t t = q_data->shape[1];
    const std::size_t n = q_data->shape[2] / h / groups;
    const std::size_t m = given("value")->shape[2] / h;
    const auto q = read<tensor<float, batch, seq, kv_heads, shared, d_k>>(*q_data, batch{b}, seq{t}, kv_heads{h},
                                                                          shared{groups}, d_k{n});
    const auto k = read<tensor<float, batch, seq, kv_heads, d_k>>(*given("key"), batch{b}, seq{t}, kv_heads{h}, d_k{n});
    const auto v =
        read<tensor<float, batch, seq, kv_heads, d_v>>(*given("value"), batch{b}, seq{t}, kv_heads{h}, d_v{m});
    state s(batch{b}, kv_heads{h}, d_k{n}, d_v{m});
    if (given("past_state") != nullptr) {
      s = read<state>(*given("past_state"), batch{b}, kv_heads{h}, d_k{n}, d_v{m});
    }
    std::optional<double> scale;
    if (attributes.contains("scale")) { scale = attributes.at("scale").get<double>(); }
    const std::string rule = attributes.value("update_rule", "gated_delta");
    const auto run = [&](const auto& update) { return nn::linear_attention<seq, d_k>(q, k, v, s, update, scale); };
    tensor<float, batch, seq, kv_heads, shared, d_v> y;
    const bool per_feature = given("decay") != nullptr && given("decay")->shape[2] == h * n;
    const auto with_decay = [&](const auto& f) {
      if (per_feature) {
        f(read<tensor<float, batch, seq, kv_heads, d_k>>(*given("decay"), batch{b}, seq{t}, kv_heads{h}, d_k{n}));
      } else {
        f(read<tensor<float, batch, seq, kv_heads>>(*given("decay"), batch{b}, seq{t}, kv_heads{h}));
      }
    };
    const auto beta = [&] {
      return read<tensor<float, batch, seq, kv_heads>>(*given("beta"), batch{b}, seq{t}, kv_heads{h});
    };
    if (rule == "linear") { y = run(nn::linear_update{}); }
    if (rule == "gated") {
      with_decay([&](const auto& g) { y = run(nn::gated_update{g}); });
    }
    if (rule == "delta") { y = run(nn::delta_update{beta()}); }
    if (rule == "gated_delta") {
      with_decay([&](const auto& g) { y = run(nn::gated_delta_update{g, beta()}); });
    }
    // The suite's tolerance; its half-precision case rounds what is compared.
    const bool half_precision = q_data->dtype == "float16";
    const auto compare = [&](std::span<const float> mine, const packed_array& expected) {
      const auto wanted = expected.converted<double>();
      REQUIRE(wanted.size() == mine.size());
      double worst = 0;
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const double value = half_precision ? double{static_cast<float>(float16(mine[i]))} : double{mine[i]};
        worst = std::max(worst, std::abs(value - wanted[i]) - 1e-3 * std::abs(wanted[i]));
      }
      CHECK(worst <= 1e-7);
    };
    compare(y.values(), onnx.at(name + "/out.output"));
    compare(s.values(), onnx.at(name + "/out.present_state"));
  }
  CHECK(cases == 8);
}

TEST_CASE("linear_attention: every rule against loops, in parts and at once") {
  const std::size_t positions = 5;
  const auto q = drawn<tensor<float, batch, kv_heads, seq, d_k>>(1, batch{2}, kv_heads{2}, seq{positions}, d_k{3});
  const auto k = drawn<tensor<float, seq, batch, kv_heads, d_k>>(2, seq{positions}, batch{2}, kv_heads{2}, d_k{3});
  const auto v = drawn<tensor<float, batch, seq, kv_heads, d_v>>(3, batch{2}, seq{positions}, kv_heads{2}, d_v{4});
  const auto g_feature =
      drawn<tensor<float, batch, seq, kv_heads, d_k>>(4, batch{2}, seq{positions}, kv_heads{2}, d_k{3});
  const auto g_head = drawn<tensor<float, kv_heads, seq>>(5, kv_heads{2}, seq{positions});
  const auto beta = drawn<tensor<float, batch, seq, kv_heads>>(6, batch{2}, seq{positions}, kv_heads{2});
  const auto begin = drawn<state>(7, batch{2}, kv_heads{2}, d_k{3}, d_v{4});
  const auto check = [&](const auto& update_of, const auto& decay_at, bool delta) {
    state s = begin;
    const tensor y = nn::linear_attention<seq, d_k>(q, k, v, s, update_of(0, positions), 0.5);
    state in_parts = begin;
    const auto part = [&](std::size_t from, std::size_t n) {
      const auto some = [&](const auto& x) { return slice<seq>(x, from, n); };
      return nn::linear_attention<seq, d_k>(some(q), some(k), some(v), in_parts, update_of(from, n), 0.5);
    };
    const auto first = part(0, 2);
    const auto second = part(2, 3);
    CHECK(differ(in_parts, s) == "");
    CHECK(differ(tensor<float, batch, kv_heads, seq, d_v>(concat<seq>(first, second)), y) == "");
    for (std::size_t b = 0; b < 2; ++b) {
      for (std::size_t h = 0; h < 2; ++h) {
        by_loops loops{std::vector<double>(12), 3, 4};
        for (std::size_t i = 0; i < 12; ++i) { loops.s[i] = el(begin, b, h, i / 4, i % 4); }
        for (std::size_t t = 0; t < positions; ++t) {
          double kt[3], vt[4], gt[3];
          const double bt = el(beta, b, t, h);
          for (std::size_t i = 0; i < 3; ++i) {
            kt[i] = el(k, t, b, h, i);
            gt[i] = decay_at(b, t, h, i);
          }
          for (std::size_t j = 0; j < 4; ++j) { vt[j] = el(v, b, t, h, j); }
          loops.step(kt, vt, gt, delta ? &bt : nullptr);
          for (std::size_t j = 0; j < 4; ++j) {
            const double wanted = 0.5 * sum_of(3, [&](auto i) { return el(q, b, h, t, i) * loops.s[i * 4 + j]; });
            CHECK(within(el(y, b, h, t, j), wanted, float32(200)));
          }
        }
        for (std::size_t i = 0; i < 12; ++i) { CHECK(within(el(s, b, h, i / 4, i % 4), loops.s[i], float32(200))); }
      }
    }
  };
  const auto some = [](const auto& x, std::size_t from, std::size_t n) { return tensor(slice<seq>(x, from, n)); };
  const auto none = [](auto...) { return 0.0; };
  const auto of_feature = [&](auto b, auto t, auto h, auto i) { return double{el(g_feature, b, t, h, i)}; };
  const auto of_head = [&](auto, auto t, auto h, auto) { return double{el(g_head, h, t)}; };
  check([&](auto, auto) { return nn::linear_update{}; }, none, false);
  check([&](auto from, auto n) { return nn::gated_update{some(g_feature, from, n)}; }, of_feature, false);
  check([&](auto from, auto n) { return nn::gated_update{some(g_head, from, n)}; }, of_head, false);
  check([&](auto from, auto n) { return nn::delta_update{some(beta, from, n)}; }, none, true);
  check([&](auto from, auto n) { return nn::gated_delta_update{some(g_head, from, n), some(beta, from, n)}; }, of_head,
        true);
  check([&](auto from, auto n) { return nn::gated_delta_update{some(g_feature, from, n), some(beta, from, n)}; },
        of_feature, true);
}

TEST_CASE("linear_attention: no positions, and extents that differ") {
  state s(batch{1}, kv_heads{1}, d_k{2}, d_v{3});
  s.fill(2);
  const tensor<float, batch, seq, kv_heads, d_k> q(batch{1}, seq{0}, kv_heads{1}, d_k{2});
  const tensor<float, batch, seq, kv_heads, d_v> v(batch{1}, seq{0}, kv_heads{1}, d_v{3});
  const auto y = nn::linear_attention<seq, d_k>(q, q, v, s);
  CHECK(y.size() == 0);
  CHECK(s.values()[5] == 2);
  const tensor<float, batch, seq, kv_heads, d_v> other(batch{1}, seq{0}, kv_heads{1}, d_v{4});
  CHECK(thrown<extent_error>([&] { (void)nn::linear_attention<seq, d_k>(q, q, other, s); }) ==
        "linear_attention: dimension d_v has extent 4 in one operand and 3 in another (R15)");
}

TEST_CASE("linear_attention: decays and betas have the extents of what they change, and are computed once") {
  constexpr std::size_t positions = 5;
  const auto k = drawn<tensor<float, batch, seq, kv_heads, d_k>>(1, batch{2}, seq{positions}, kv_heads{1}, d_k{2});
  const auto v = drawn<tensor<float, batch, seq, kv_heads, d_v>>(2, batch{2}, seq{positions}, kv_heads{1}, d_v{3});
  state s(batch{2}, kv_heads{1}, d_k{2}, d_v{3});
  const auto thrown_by = [&](const auto& update) {
    return thrown<extent_error>([&] { (void)nn::linear_attention<seq, d_k>(k, k, v, s, update); });
  };
  for (const std::size_t n : {3, 7}) {
    const tensor<float, seq> other(seq{n});
    const std::string wanted =
        "linear_attention: dimension seq has extent 5 in one operand and " + std::to_string(n) + " in another (R15)";
    CHECK(thrown_by(nn::gated_update{other}) == wanted);
    CHECK(thrown_by(nn::delta_update{other}) == wanted);
    CHECK(thrown_by(nn::gated_delta_update{tensor<float, seq>(seq{positions}), other}) == wanted);
  }
  CHECK(thrown_by(nn::gated_update{tensor<float, seq, d_k>(seq{positions}, d_k{1})}) ==
        "linear_attention: dimension d_k has extent 2 in one operand and 1 in another (R15)");
  CHECK(s.values()[0] == 0);
  std::size_t calls = 0;
  const auto counted = map([&calls](float x) { return ++calls, x; }, drawn<tensor<float, seq>>(3, seq{positions}));
  (void)nn::linear_attention<seq, d_k>(k, k, v, s, nn::gated_delta_update{counted, counted});
  CHECK(calls == 2 * positions);
}
