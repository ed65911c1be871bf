// tests/kernels/attention_gradient/double.test.cpp -- the backward pass of attention in double against the formulas in
// long double: extents over several panels, blocks and spans, windows, masks, biases, shared keys.
//
// SPDX-License-Identifier: BSL-1.0
#include "kernels/kernel_test_support.hpp"
#include <dimwise/kernels/attention/forward.hpp>
#include <dimwise/kernels/attention_gradient/backward.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

namespace {

namespace kernels = dimwise::kernels;
using arch = kernels::in_double<kernels::default_arch>;
using exact = long double;
using matrix = std::vector<double>;

matrix drawn(std::size_t size, std::mt19937& random) {
  std::normal_distribution<double> normal;
  matrix x(size);
  for (double& one : x) one = normal(random);
  return x;
}

/// `count` query heads of one key head, whose gradients of keys and values are added up.
struct problem {
  std::size_t queries, keys, features, values, count;
  matrix k, v, bias, d_k, d_v, d_bias;
  std::vector<matrix> q, out, lse, d_out, d_q;
  std::vector<unsigned char> allowed;
  kernels::attention_gradient_call_of<double> call;

  problem(std::size_t n, std::size_t m, std::size_t f, std::size_t w, std::size_t heads, std::mt19937& random)
      : queries(n),
        keys(m),
        features(f),
        values(w),
        count(heads),
        k(drawn(m * f, random)),
        v(drawn(m * w, random)),
        bias(drawn(n * m, random)),
        d_k(m * f, 7),
        d_v(m * w, 7),
        d_bias(n * m, 0),
        allowed(n * m, 1) {
    for (std::size_t h = 0; h < heads; ++h) {
      q.push_back(drawn(n * f, random));
      d_out.push_back(drawn(n * w, random));
      out.emplace_back(n * w);
      lse.emplace_back(n);
      d_q.emplace_back(n * f, 7);
    }
    auto& layout = call.forth.layout;
    layout.queries = n;
    layout.keys = m;
    layout.head_dim = f;
    layout.value_dim = w;
    layout.q_row = layout.k_row = call.layout.d_q_row = call.layout.d_k_row = static_cast<std::ptrdiff_t>(f);
    layout.v_row = layout.out_row = call.layout.d_out_row = call.layout.d_v_row = static_cast<std::ptrdiff_t>(w);
    layout.bias_query = layout.allow_query = call.layout.d_bias_query = static_cast<std::ptrdiff_t>(m);
    layout.bias_key = layout.allow_key = call.layout.d_bias_key = 1;
    layout.scale = 1 / std::sqrt(static_cast<double>(f));
  }

  void run(bool has_bias, bool has_mask) {
    compute(has_bias, has_mask);
    check(has_bias, has_mask);
  }
  void compute(bool has_bias, bool has_mask) {
    std::vector<kernels::attention_head_of<double>> heads(count);
    std::vector<kernels::attention_gradient_head_of<double>> gradients(count);
    for (std::size_t h = 0; h < count; ++h) {
      heads[h].q = q[h].data();
      heads[h].k = k.data();
      heads[h].v = v.data();
      heads[h].out = out[h].data();
      heads[h].lse = lse[h].data();
      if (has_bias) heads[h].bias = bias.data();
      if (has_mask) heads[h].allow = reinterpret_cast<const bool*>(allowed.data());
      gradients[h] = {d_out[h].data(), nullptr,    d_q[h].data(),
                      d_k.data(),      d_v.data(), has_bias ? d_bias.data() : nullptr};
    }
    call.forth.heads = heads.data();
    call.forth.count = count;
    call.gradients = gradients.data();
    kernels::serial_executor serial;
    support::scratch_memory forth(kernels::attention_scratch_bytes<arch>(call.forth.layout, 1));
    kernels::attention<arch>(call.forth.layout, heads.data(), count, forth.get(), serial);
    support::scratch_memory back(kernels::attention_gradient_scratch_bytes<arch>(call, 1));
    kernels::attention_gradient<arch>(call, back.get(), serial);
    CHECK(back.intact());
  }

  /// Rounding errors are at most a few units of the sum of the magnitudes, which `size` bounds.
  static void compare(const matrix& got, const std::vector<exact>& truth, exact size) {
    REQUIRE(got.size() == truth.size());
    exact worst = 0;
    for (std::size_t i = 0; i < got.size(); ++i) worst = std::max(worst, std::fabs(exact{got[i]} - truth[i]));
    CHECK(worst <= size * 64 * exact{std::numeric_limits<double>::epsilon()});
  }

  void check(bool has_bias, bool has_mask) const {
    const auto& window = call.forth.layout.window;
    std::vector<exact> to_k(d_k.size()), to_v(d_v.size()), to_bias(d_bias.size());
    exact size = 1;
    for (std::size_t h = 0; h < count; ++h) {
      std::vector<exact> to_q(d_q[h].size());
      for (std::size_t i = 0; i < queries; ++i) {
        std::vector<exact> p(keys), d_p(keys);
        exact sum = 0;
        const auto sees = [&](std::size_t j) {
          const auto distance = static_cast<std::ptrdiff_t>(j) - static_cast<std::ptrdiff_t>(i) - window.offset;
          return distance >= -window.before && distance <= window.after && (!has_mask || allowed[i * keys + j] != 0);
        };
        for (std::size_t j = 0; j < keys; ++j) {
          if (!sees(j)) continue;
          for (std::size_t c = 0; c < features; ++c) p[j] += exact{q[h][i * features + c]} * exact{k[j * features + c]};
          p[j] = std::exp(p[j] * exact{call.forth.layout.scale} + (has_bias ? exact{bias[i * keys + j]} : 0));
          sum += p[j];
          for (std::size_t c = 0; c < values; ++c) d_p[j] += exact{d_out[h][i * values + c]} * exact{v[j * values + c]};
        }
        exact delta = 0;
        for (std::size_t j = 0; j < keys; ++j) {
          p[j] = sum == 0 ? 0 : p[j] / sum;
          delta += p[j] * d_p[j];
        }
        for (std::size_t j = 0; j < keys; ++j) {
          const exact d_s = p[j] * (d_p[j] - delta);
          size = std::max(size, std::fabs(d_p[j]));
          to_bias[i * keys + j] += d_s;
          for (std::size_t c = 0; c < features; ++c) {
            to_q[i * features + c] += d_s * exact{call.forth.layout.scale} * exact{k[j * features + c]};
            to_k[j * features + c] += d_s * exact{call.forth.layout.scale} * exact{q[h][i * features + c]};
          }
          for (std::size_t c = 0; c < values; ++c) to_v[j * values + c] += p[j] * exact{d_out[h][i * values + c]};
        }
      }
      compare(d_q[h], to_q, size);
    }
    compare(d_k, to_k, size);
    compare(d_v, to_v, size);
    if (has_bias) compare(d_bias, to_bias, size);
  }
};

}  // namespace

TEST_CASE("attention gradients in double: extents, windows, biases, masks, shared keys") {
  std::mt19937 random(1);
  const struct {
    std::size_t queries, keys, features, values, heads;
  } sizes[] = {{1, 1, 1, 1, 1},     {5, 3, 2, 7, 1},       {17, 40, 8, 5, 2},      {64, 96, 16, 16, 1},
               {70, 97, 19, 23, 3}, {130, 210, 64, 64, 2}, {33, 300, 130, 140, 1}, {200, 7, 3, 33, 1}};
  for (const auto& s : sizes) {
    for (int kind = 0; kind < 8; ++kind) {
      CAPTURE(s.queries);
      CAPTURE(s.keys);
      CAPTURE(kind);
      problem p(s.queries, s.keys, s.features, s.values, s.heads, random);
      if (kind % 2 == 1) p.call.forth.layout.window = {20, 3, static_cast<std::ptrdiff_t>(s.keys / 4)};
      if (kind / 4 == 1) {
        for (unsigned char& x : p.allowed) x = random() % 3 != 0 ? 1 : 0;
      }
      p.run(kind / 2 % 2 == 1, kind / 4 == 1);
    }
  }
}

TEST_CASE("attention gradients in double: keys that are hidden may be NaN, a query that sees none gets 0") {
  std::mt19937 random(2);
  problem p(40, 120, 9, 11, 1, random);
  for (std::size_t i = 0; i < 40; ++i) p.allowed[i * 120 + 100] = 0;
  std::fill_n(p.allowed.begin() + 7 * 120, 120, static_cast<unsigned char>(0));
  p.run(false, true);
  const matrix before = p.d_q[0];
  for (std::size_t c = 0; c < 9; ++c) CHECK(p.d_q[0][7 * 9 + c] == 0.0);
  const matrix of_keys = p.d_k;
  p.k[100 * 9 + 3] = p.v[100 * 11 + 2] = std::numeric_limits<double>::quiet_NaN();
  p.compute(false, true);
  for (std::size_t i = 0; i < before.size(); ++i)
    CHECK(std::abs(p.d_q[0][i] - before[i]) <= 1e-13 * (1 + std::abs(before[i])));
  for (std::size_t i = 0; i < of_keys.size(); ++i)
    CHECK(std::abs(p.d_k[i] - of_keys[i]) <= 1e-13 * (1 + std::abs(of_keys[i])));
  for (std::size_t c = 0; c < 9; ++c) CHECK(p.d_k[100 * 9 + c] == 0.0);
}
