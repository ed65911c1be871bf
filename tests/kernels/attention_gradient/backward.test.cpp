// tests/kernels/attention_gradient/backward.test.cpp -- the backward pass of attention against the formulas in double.
//
// Built once per architecture: everything here uses default_arch, so the compiler's flags choose.
//
// SPDX-License-Identifier: BSL-1.0
#include "kernels/kernel_test_support.hpp"
#include "reference.hpp"
#include "support/threads.hpp"
#include <dimwise/kernels/attention/forward.hpp>
#include <dimwise/kernels/attention_gradient/backward.hpp>
#include <dimwise/kernels/dispatch/gradient_implementation.hpp>
#include <dimwise/kernels/dispatch/implementation.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <random>
#include <vector>

namespace {

namespace kernels = dimwise::kernels;
using arch = kernels::default_arch;
using kernels::attention_gradient_call;
using kernels::attention_gradient_head;
using kernels::attention_head;
using kernels::attention_layout;
using kernels::key_window;
using reference::extents;
using reference::head_gradients;
using reference::infinity;
using reference::not_a_number;
using reference::sums;
using support::racing_executor;
using support::scratch_memory;

constexpr std::size_t strip = kernels::detail::strip_width<arch>;
constexpr std::size_t panel = kernels::detail::gradient_plan<arch>::queries;
constexpr std::size_t block = kernels::detail::block_keys;

/// Heads, their gradients, and what the gradients should be.
struct problem {
  std::vector<reference::problem> heads;
  std::size_t group = 1;
  std::vector<attention_head> list;
  std::vector<attention_gradient_head> gradients;
  std::vector<std::vector<float>> d_out, d_q, d_k, d_v;
  std::vector<float> d_bias;  // of the first head
  attention_gradient_call call;
  reference::shaped_score shape;

  problem(const attention_layout& layout, std::mt19937& random, std::size_t count = 1, std::size_t shared = 1,
          std::size_t gap = 0, float size = 1.0F)
      : group(shared) {
    for (std::size_t h = 0; h < count; ++h) {
      heads.push_back(reference::make_problem(layout, random, gap, size));
      std::vector<float> numbers(layout.queries * layout.value_dim);
      reference::fill(numbers, random, 1.0F);
      d_out.push_back(numbers);
      d_q.emplace_back(layout.queries * layout.head_dim, not_a_number);
      d_k.emplace_back(layout.keys * layout.head_dim, not_a_number);
      d_v.emplace_back(layout.keys * layout.value_dim, not_a_number);
    }
    call.forth.layout = heads[0].layout;
    call.layout.d_out_row = call.layout.d_v_row = static_cast<std::ptrdiff_t>(layout.value_dim);
    call.layout.d_q_row = call.layout.d_k_row = static_cast<std::ptrdiff_t>(layout.head_dim);
    for (std::size_t h = 0; h < count; ++h) {
      const std::size_t first = h / group * group;
      heads[h].head.k = heads[first].k.data();
      heads[h].head.v = heads[first].v.data();
      list.push_back(heads[h].head);
      gradients.push_back({d_out[h].data(), nullptr, d_q[h].data(), d_k[first].data(), d_v[first].data(), nullptr});
    }
  }
  problem(const problem&) = delete;
  problem& operator=(const problem&) = delete;

  attention_layout& layout() { return call.forth.layout; }
  attention_head& head() { return list[0]; }

  template <class Threads>
  void run(Threads& threads, std::size_t workers = 1) {
    call.forth.heads = list.data();
    call.forth.count = list.size();
    call.gradients = gradients.data();
    const kernels::detail::call_score<arch> score{call.forth.score};
    scratch_memory forth(kernels::attention_scratch_bytes<arch>(layout(), workers));
    kernels::attention<arch>(layout(), list.data(), list.size(), forth.get(), threads, score);
    scratch_memory back(kernels::attention_gradient_scratch_bytes<arch>(call, workers));
    kernels::attention_gradient<arch>(call, back.get(), threads);
    CHECK(back.intact());
  }
  double run() {
    kernels::serial_executor executor;
    run(executor);
    return worst();
  }

  /// The largest error of all gradients in the unit of the reference.
  double worst() {
    double largest = 0;
    const auto take = [&](double x) { largest = std::max(largest, x); };
    for (std::size_t h = 0; h < list.size(); h += group) {
      sums k(d_k[h].size());
      sums v(d_v[h].size());
      for (std::size_t i = h; i < h + group; ++i) {
        const head_gradients truth = reference::attention_gradient_of(call, i, shape);
        if (gradients[i].d_q != nullptr) take(reference::worst_error(truth.q, d_q[i]));
        for (std::size_t e = 0; e < d_k[h].size(); ++e) k.add(e, truth.k.value[e], truth.k.unit[e]);
        for (std::size_t e = 0; e < d_v[h].size(); ++e) v.add(e, truth.v.value[e], truth.v.unit[e]);
        if (i == 0 && !d_bias.empty()) take(bias_error(truth.bias));
      }
      if (gradients[h].d_k != nullptr) take(reference::worst_error(k, d_k[h]));
      if (gradients[h].d_v != nullptr) take(reference::worst_error(v, d_v[h]));
    }
    return largest;
  }

  /// d_bias of the first head, reduced as its strides say.
  double bias_error(const sums& pairs) const {
    sums reduced(d_bias.size());
    const attention_layout& l = call.forth.layout;
    for (std::size_t i = 0; i < l.queries; ++i) {
      for (std::size_t j = 0; j < l.keys; ++j) {
        const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i) * call.layout.d_bias_query +
                                  static_cast<std::ptrdiff_t>(j) * call.layout.d_bias_key;
        reduced.add(static_cast<std::size_t>(at), pairs.value[i * l.keys + j], pairs.unit[i * l.keys + j]);
      }
    }
    return reference::worst_error(reduced, d_bias);
  }
};

TEST_CASE("attention gradient: every tail of the tiles") {
  std::mt19937 random(1);
  for (const std::size_t queries : {std::size_t{1}, std::size_t{3}, strip - 1, strip, strip + 1, 2 * panel + 5}) {
    for (const std::size_t keys : {std::size_t{1}, std::size_t{2}, std::size_t{5}, std::size_t{7}, block - 1, block,
                                   block + 1, 2 * block + 11}) {
      for (const std::size_t features : {1, 3, 4, 6, 7, 16, 17, 33}) {
        CAPTURE(queries);
        CAPTURE(keys);
        CAPTURE(features);
        problem p(extents(queries, keys, features, 34 - features), random, 1, 1, 3);
        CHECK(p.run() <= 2.0);
      }
    }
  }
}

TEST_CASE("attention gradient: several spans of keys, every window") {
  std::mt19937 random(2);
  double largest = 0;
  for (int round = 0; round < 40; ++round) {
    const reference::picker pick{random};
    attention_layout layout = extents(pick(1, 200), pick(1, 900), pick(1, 130), pick(1, 130));
    const std::size_t kind = pick(0, 3);
    const auto offset = static_cast<std::ptrdiff_t>(pick(0, 600)) - 100;
    layout.window = reference::random_window(kind, offset, pick);
    const std::size_t group = pick(1, 3);
    problem p(layout, random, 2 * group, group, pick(0, 1) * pick(1, 200), pick(0, 1) == 0 ? 1.0F : 2.0F);
    if (pick(0, 3) == 0) {
      const std::size_t visible = pick(0, layout.keys);
      for (attention_head& h : p.list) h.visible_keys = visible;
    }
    CAPTURE(round);
    CAPTURE(kind);
    const double error = p.run();
    CHECK(error <= 2.0);
    largest = std::max(largest, error);
  }
  CHECK(largest > 0.05);  // a bound that nothing comes near would find nothing
}

TEST_CASE("attention gradient: causal and sliding windows at every edge") {
  std::mt19937 random(3);
  for (const std::ptrdiff_t offset : {-70, -1, 0, 1, 5, 95, 300}) {
    for (const std::ptrdiff_t before :
         {std::ptrdiff_t{0}, std::ptrdiff_t{1}, std::ptrdiff_t{40}, key_window::unbounded}) {
      for (const std::ptrdiff_t after :
           {std::ptrdiff_t{-30}, std::ptrdiff_t{-3}, std::ptrdiff_t{0}, std::ptrdiff_t{17}, key_window::unbounded}) {
        CAPTURE(offset);
        CAPTURE(before);
        CAPTURE(after);
        attention_layout layout = extents(panel + strip + 9, 230, 20, 13);
        layout.window = {before, after, offset};
        problem p(layout, random);
        CHECK(p.run() <= 2.0);
      }
    }
  }
}

TEST_CASE("attention gradient: strides of every operand and gradient") {
  std::mt19937 random(4);
  problem p(extents(70, 130, 19, 23), random);
  SUBCASE("feature-major") {
    p.layout().q_row = p.layout().k_row = p.layout().v_row = p.layout().out_row = 1;
    p.layout().q_feature = p.layout().out_feature = 70;
    p.layout().k_feature = p.layout().v_feature = 130;
    p.call.layout.d_out_row = 1;
    p.call.layout.d_out_feature = 70;
  }
  SUBCASE("one d_out for all rows and features") { p.call.layout.d_out_row = p.call.layout.d_out_feature = 0; }
  SUBCASE("backwards") {
    p.head().k += 129 * p.layout().k_row;
    p.layout().k_row = -p.layout().k_row;
  }
  CHECK(p.run() <= 2.0);
  // The same numbers through other strides of the results.
  const auto q = p.d_q[0];
  const auto k = p.d_k[0];
  const auto v = p.d_v[0];
  auto& to = p.call.layout;
  to.d_q_row = to.d_k_row = to.d_v_row = 1;
  to.d_q_feature = 70;
  to.d_k_feature = to.d_v_feature = 130;
  kernels::serial_executor executor;
  p.run(executor);
  const auto turned = [](const std::vector<float>& a, const std::vector<float>& b, std::size_t rows) {
    const std::size_t columns = a.size() / rows;
    bool same = true;
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t c = 0; c < columns; ++c) same = same && a[i * columns + c] == b[c * rows + i];
    }
    return same;
  };
  CHECK(turned(q, p.d_q[0], 70));
  CHECK(turned(k, p.d_k[0], 130));
  CHECK(turned(v, p.d_v[0], 130));
}

TEST_CASE("attention gradient: biases and masks of any stride, and the gradient of the bias") {
  std::mt19937 random(5);
  for (const bool causal : {false, true}) {
    for (const std::size_t queries : {std::size_t{5}, panel + 20}) {
      for (int kind = 0; kind < 9; ++kind) {
        CAPTURE(causal);
        CAPTURE(queries);
        CAPTURE(kind);
        const std::size_t keys = 140;
        attention_layout layout = extents(queries, keys, 9, 7);
        if (causal) layout.window = {50, 0, 3};
        problem p(layout, random);
        std::vector<float> bias(queries * keys);
        reference::fill(bias, random, 1.5F);
        std::vector<char> allow(queries * keys);
        for (char& a : allow) a = random() % 3 != 0 ? 1 : 0;
        const auto row = static_cast<std::ptrdiff_t>(keys);
        const auto column = static_cast<std::ptrdiff_t>(queries);
        if (kind != 1) {
          p.head().bias = bias.data();
          p.layout().bias_query = kind == 2 || kind == 8 ? 0 : kind == 3 ? 1 : row;
          p.layout().bias_key = kind == 3 ? column : kind == 4 || kind == 8 ? 0 : 1;
          p.call.layout.d_bias_query = p.layout().bias_query;
          p.call.layout.d_bias_key = p.layout().bias_key;
          p.d_bias.assign(kind == 8 ? 1 : kind == 2 ? keys : kind == 4 ? (queries - 1) * keys + 1 : queries * keys, 0);
          p.gradients[0].d_bias = p.d_bias.data();
        }
        if (kind != 0) {
          p.head().allow = reinterpret_cast<const bool*>(allow.data());
          p.layout().allow_query = kind == 5 ? 0 : kind == 6 ? 1 : row;
          p.layout().allow_key = kind == 6 ? column : kind == 7 ? 0 : 1;
        }
        CHECK(p.run() <= 2.0);
      }
    }
  }
}

TEST_CASE("attention gradient: heads that share a bias sum into one gradient, onto what is there") {
  std::mt19937 random(6);
  const std::size_t queries = panel + 3;
  const std::size_t keys = 50;
  problem p(extents(queries, keys, 8, 8), random, 4, 2);
  std::vector<float> bias(queries * keys);
  reference::fill(bias, random, 1.0F);
  p.layout().bias_query = p.call.layout.d_bias_query = static_cast<std::ptrdiff_t>(keys);
  p.layout().bias_key = p.call.layout.d_bias_key = 1;
  std::vector<float> shared(queries * keys, 2.0F);
  for (std::size_t h = 0; h < 4; ++h) {
    p.list[h].bias = bias.data();
    p.gradients[h].d_bias = shared.data();
  }
  CHECK(p.run() <= 2.0);
  sums truth(shared.size());
  for (std::size_t h = 0; h < 4; ++h) {
    const head_gradients each = reference::attention_gradient_of(p.call, h);
    for (std::size_t e = 0; e < shared.size(); ++e) truth.add(e, each.bias.value[e], each.bias.unit[e]);
  }
  for (std::size_t e = 0; e < shared.size(); ++e) truth.add(e, 2.0, 1e-6);
  CHECK(reference::worst_error(truth, shared) <= 2.0);
}

TEST_CASE("attention gradient: soft cap, slopes of distance, and a function of the user's own") {
  std::mt19937 random(7);
  attention_layout layout = extents(panel + 7, block + 30, 12, 10);
  SUBCASE("full") {}
  SUBCASE("causal") { layout.window = key_window::causal(20); }
  layout.scale = 1.0F;
  for (int kind = 1; kind < 8; ++kind) {
    CAPTURE(kind);
    problem p(layout, random, 1, 1, 0, 0.7F);
    const bool own = (kind & 1) != 0;
    const bool cap = (kind & 2) != 0;
    const bool distance = (kind & 4) != 0;
    const float slope = 0.05F;
    if (own) {
      p.call.forth.score.own = [](void*, float* scores, std::size_t count) noexcept {
        for (std::size_t i = 0; i < count; ++i) scores[i] = 0.5F * scores[i] + 0.1F * scores[i] * scores[i];
      };
      p.call.own_derivative = [](void*, float* scores, float* slopes, std::size_t count) noexcept {
        for (std::size_t i = 0; i < count; ++i) {
          slopes[i] = 0.5F + 0.2F * scores[i];
          scores[i] = 0.5F * scores[i] + 0.1F * scores[i] * scores[i];
        }
      };
    }
    if (cap) p.call.forth.score.soft_cap = 2.0F;
    if (distance) {
      p.call.forth.score.slopes = &slope;
      p.call.forth.score.distance = -20;
    }
    p.shape.value = [=](double s, std::ptrdiff_t i, std::ptrdiff_t j) {
      if (own) s = 0.5 * s + 0.1F * s * s;
      if (cap) s = 2.0 * std::tanh(s / 2.0);
      return distance ? s - double{slope} * std::abs(static_cast<double>(j - i - 20)) : s;
    };
    p.shape.slope = [=](double s, std::ptrdiff_t, std::ptrdiff_t) {
      double by = 1;
      if (own) {
        by = 0.5 + 0.2F * s;
        s = 0.5 * s + 0.1F * s * s;
      }
      const double t = std::tanh(s / 2.0);
      return cap ? by * (1 - t * t) : by;
    };
    std::vector<float> bias(layout.queries * layout.keys, 0.25F);
    p.head().bias = bias.data();
    p.layout().bias_query = p.call.layout.d_bias_query = static_cast<std::ptrdiff_t>(layout.keys);
    p.layout().bias_key = p.call.layout.d_bias_key = 1;
    p.d_bias.assign(bias.size(), 0.0F);
    p.gradients[0].d_bias = p.d_bias.data();
    CHECK(p.run() <= 2.0);
  }
}

TEST_CASE("attention gradient: the gradient of lse, and gradients that are not requested") {
  std::mt19937 random(8);
  problem p(extents(panel + 3, 77, 11, 14), random);
  std::vector<float> d_lse(p.layout().queries);
  reference::fill(d_lse, random, 2.0F);
  p.gradients[0].d_lse = d_lse.data();
  CHECK(p.run() <= 2.0);
  for (int lacks = 0; lacks < 3; ++lacks) {
    CAPTURE(lacks);
    auto& g = p.gradients[0];
    g = {p.d_out[0].data(), d_lse.data(), p.d_q[0].data(), p.d_k[0].data(), p.d_v[0].data(), nullptr};
    if (lacks == 0) g.d_q = nullptr;
    if (lacks == 1) g.d_k = nullptr;
    if (lacks == 2) g.d_v = nullptr;
    CHECK(p.run() <= 2.0);
  }
}

TEST_CASE("attention gradient: a row that sees nothing and a key that no query sees get exactly 0") {
  std::mt19937 random(9);
  attention_layout layout = extents(panel + 2, 100, 8, 8);
  std::vector<char> allow(100, 0);
  std::vector<float> bias(1, -infinity);
  problem p(layout, random);
  const auto spoil = [&] {
    std::fill(p.heads[0].q.begin(), p.heads[0].q.end(), not_a_number);
    std::fill(p.heads[0].k.begin(), p.heads[0].k.end(), not_a_number);
    std::fill(p.heads[0].v.begin(), p.heads[0].v.end(), not_a_number);
    std::fill(p.d_out[0].begin(), p.d_out[0].end(), not_a_number);
  };
  SUBCASE("no visible keys") { p.head().visible_keys = 0; }
  SUBCASE("no visible keys, over NaN") {
    p.head().visible_keys = 0;
    spoil();
  }
  SUBCASE("window before the first key") { p.layout().window = {5, 0, -1000}; }
  SUBCASE("window after the last key") { p.layout().window = {5, 0, 1000}; }
  SUBCASE("mask, over NaN") {
    p.head().allow = reinterpret_cast<const bool*>(allow.data());
    p.layout().allow_key = 1;
    spoil();
  }
  SUBCASE("bias of -inf") { p.head().bias = bias.data(); }
  kernels::serial_executor executor;
  p.run(executor);
  for (const auto* gradient : {&p.d_q[0], &p.d_k[0], &p.d_v[0]}) {
    for (const float x : *gradient) CHECK(x == 0.0F);
  }
}

TEST_CASE("attention gradient: what is hidden has no effect") {
  std::mt19937 random(10);
  attention_layout layout = extents(panel + 30, 150, 10, 9);
  layout.window = key_window::causal(20);
  for (const float poison : {not_a_number, infinity, -infinity}) {
    for (const std::size_t key :
         {std::size_t{0}, std::size_t{21}, std::size_t{95}, std::size_t{96}, std::size_t{149}}) {
      for (int where = 0; where < 7; ++where) {
        CAPTURE(poison);
        CAPTURE(key);
        CAPTURE(where);
        problem p(layout, random);
        auto& h = p.heads[0];
        std::vector<char> allow(150, 1);
        std::vector<float> bias(150, 0.5F);
        // A query whose row is hidden as a whole, poisoned too.
        std::vector<char> pairs(layout.queries * 150, 1);
        if (where == 0) h.k[key * 10 + 3] = poison;
        if (where == 1) h.v[key * 9 + 5] = poison;
        if (where == 2) h.q[7 * 10 + 1] = poison;
        if (where == 3) p.d_out[0][8 * 9 + 1] = poison;
        if (where >= 4 && where < 6) {
          // hidden by a mask in every row, in K, V and bias at once
          allow[key] = 0;
          p.head().allow = reinterpret_cast<const bool*>(allow.data());
          p.layout().allow_key = 1;
          bias[key] = poison;
          p.head().bias = bias.data();
          p.layout().bias_key = 1;
          for (std::size_t c = 0; c < 10; ++c) h.k[key * 10 + c] = poison;
          for (std::size_t c = 0; c < 9; ++c) h.v[key * 9 + c] = poison;
        }
        if (where == 5) p.layout().window = {};
        if (where == 6) {
          std::fill(pairs.begin() + 40 * 150, pairs.begin() + 41 * 150, 0);
          p.head().allow = reinterpret_cast<const bool*>(pairs.data());
          p.layout().allow_query = 150;
          p.layout().allow_key = 1;
          for (std::size_t c = 0; c < 10; ++c) h.q[40 * 10 + c] = poison;
          for (std::size_t c = 0; c < 9; ++c) p.d_out[0][40 * 9 + c] = poison;
        }
        kernels::serial_executor executor;
        p.run(executor);
        if (where >= 4) {
          CHECK(p.worst() <= 2.0);
          for (const auto* gradient : {&p.d_q[0], &p.d_k[0], &p.d_v[0]}) {
            for (const float x : *gradient) CHECK(std::isfinite(x));
          }
          if (where < 6) {
            for (std::size_t c = 0; c < 10; ++c) CHECK(p.d_k[0][key * 10 + c] == 0.0F);
            for (std::size_t c = 0; c < 9; ++c) CHECK(p.d_v[0][key * 9 + c] == 0.0F);
          }
          continue;
        }
        // Rows that see it are spoiled, the others are as if it were an ordinary number.
        for (std::size_t i = 0; i < layout.queries; ++i) {
          const bool sees = where == 2 ? i == 7 : where == 3 ? i == 8 : key <= i + 20;
          for (std::size_t c = 0; c < 10 && !sees; ++c) CHECK(std::isfinite(p.d_q[0][i * 10 + c]));
        }
        // A key behind all queries that were spoiled.
        const std::size_t last_seen = where == 2 ? 27 : where == 3 ? 28 : 0;
        for (std::size_t j = last_seen + 1; j < 150 && where >= 2; ++j) {
          for (std::size_t c = 0; c < 10; ++c) CHECK(std::isfinite(p.d_k[0][j * 10 + c]));
          for (std::size_t c = 0; c < 9; ++c) CHECK(std::isfinite(p.d_v[0][j * 9 + c]));
        }
      }
    }
  }
}

TEST_CASE("attention gradient: masks, biases, windows, groups and shaped scores at once, NaN behind what is hidden") {
  std::mt19937 random(16);
  const reference::picker pick{random};
  for (int round = 0; round < 150; ++round) {
    CAPTURE(round);
    attention_layout layout = extents(pick(1, 150), pick(1, 420), pick(1, 40), pick(1, 40));
    if (pick(0, 2) > 0) {
      const auto before = static_cast<std::ptrdiff_t>(pick(0, 200));
      layout.window = {pick(0, 1) == 0 ? key_window::unbounded : before, static_cast<std::ptrdiff_t>(pick(0, 40)),
                       static_cast<std::ptrdiff_t>(pick(0, 200)) - 60};
    }
    const std::size_t group = pick(1, 3);
    problem p(layout, random, 2 * group, group, pick(0, 3));
    const std::size_t pairs = layout.queries * layout.keys;
    const auto row = static_cast<std::ptrdiff_t>(layout.keys);
    std::vector<char> allow(pairs);
    const std::size_t density = pick(0, 4);
    for (char& a : allow) a = random() % 5 < density ? 1 : 0;
    for (std::size_t i = 0; i < layout.queries; ++i) {
      if (pick(0, 5) == 0) std::fill_n(allow.begin() + static_cast<std::ptrdiff_t>(i) * row, row, char{0});
    }
    const bool masks = pick(0, 1) == 0;
    std::vector<float> bias(pairs);
    reference::fill(bias, random, 1.0F);
    for (float& b : bias) b = pick(0, 9) == 0 ? -infinity : b;
    const bool biases = pick(0, 1) == 0;
    const std::size_t visible = pick(0, 3) == 0 ? pick(0, layout.keys) : layout.keys + pick(0, 1) * 7;
    for (attention_head& h : p.list) {
      h.visible_keys = visible;
      if (masks) h.allow = reinterpret_cast<const bool*>(allow.data());
      if (biases) h.bias = bias.data();
    }
    if (masks) {
      p.layout().allow_query = pick(0, 3) == 0 ? 0 : row;
      p.layout().allow_key = 1;
    }
    if (biases) {
      p.layout().bias_query = p.call.layout.d_bias_query = pick(0, 3) == 0 ? 0 : row;
      p.layout().bias_key = p.call.layout.d_bias_key = 1;
      p.d_bias.assign(p.layout().bias_query == 0 ? layout.keys : pairs, 0.0F);
      p.gradients[0].d_bias = p.d_bias.data();
    }
    if (pick(0, 3) == 0) {
      p.call.forth.score.soft_cap = 3.0F;
      p.shape.value = [](double s, std::ptrdiff_t, std::ptrdiff_t) { return 3.0 * std::tanh(s / 3.0); };
      p.shape.slope = [](double s, std::ptrdiff_t, std::ptrdiff_t) {
        return 1 - std::tanh(s / 3.0) * std::tanh(s / 3.0);
      };
    }
    // Keys that no query sees, and queries that see no key, are NaN.
    const auto visible_pair = [&](std::size_t h, std::size_t i, std::size_t j) {
      const auto a = static_cast<std::ptrdiff_t>(i);
      const auto b = static_cast<std::ptrdiff_t>(j);
      const attention_layout& l = p.layout();
      return reference::sees(l, p.list[h], a, b) &&
             (!biases || bias[static_cast<std::size_t>(a * l.bias_query + b)] != -infinity);
    };
    const bool poisons = pick(0, 1) == 0;
    for (std::size_t h = 0; h < 2 * group && poisons; ++h) {
      const auto spoil = [](std::vector<float>& data, std::size_t at, std::ptrdiff_t stride, std::size_t features) {
        for (std::size_t c = 0; c < features; ++c)
          data[at * static_cast<std::size_t>(stride) + c] = c % 2 == 0 ? not_a_number : infinity;
      };
      for (std::size_t j = 0; j < layout.keys && h % group == 0; ++j) {
        bool seen = false;
        for (std::size_t i = 0; i < layout.queries; ++i) seen = seen || visible_pair(h, i, j);
        if (seen) continue;
        spoil(p.heads[h].k, j, p.layout().k_row, layout.head_dim);
        spoil(p.heads[h].v, j, p.layout().v_row, layout.value_dim);
      }
      for (std::size_t i = 0; i < layout.queries; ++i) {
        bool seen = false;
        for (std::size_t j = 0; j < layout.keys; ++j) seen = seen || visible_pair(h, i, j);
        if (seen) continue;
        spoil(p.heads[h].q, i, p.layout().q_row, layout.head_dim);
        spoil(p.d_out[h], i, p.call.layout.d_out_row, layout.value_dim);
      }
    }
    CHECK(p.run() <= 2.0);
  }
}

TEST_CASE("attention gradient: enormous logits stay finite") {
  std::mt19937 random(11);
  attention_layout layout = extents(40, 120, 2, 6);
  layout.scale = 1.0F;
  problem p(layout, random);
  auto& h = p.heads[0];
  for (std::size_t i = 0; i < h.q.size(); ++i) h.q[i] = i % 2 == 0 ? 1.5e14F : -1.0F;
  for (std::size_t i = 0; i < h.k.size(); ++i) h.k[i] = i % 2 == 0 ? (i % 3 == 0 ? 2.0e14F : -2.0e14F) : 0.5F;
  kernels::serial_executor executor;
  p.run(executor);
  for (const auto* gradient : {&p.d_q[0], &p.d_k[0], &p.d_v[0]}) {
    for (const float x : *gradient) CHECK(std::isfinite(x));
  }
}

TEST_CASE("attention gradient: extents of zero") {
  std::mt19937 random(12);
  for (int which = 0; which < 4; ++which) {
    CAPTURE(which);
    problem p(extents(which == 0 ? 0 : 5, which == 1 ? 0 : 7, which == 2 ? 0 : 3, which == 3 ? 0 : 4), random);
    if (which == 3) p.heads[0].lse.assign(5, 0.0F);
    kernels::serial_executor executor;
    p.run(executor);
    if (which != 3) CHECK(p.worst() <= 2.0);
    for (const float x : p.d_k[0]) CHECK((which != 0 || x == 0.0F));
  }
  attention_gradient_call none;
  kernels::serial_executor executor;
  kernels::attention_gradient<arch>(none, nullptr, executor);
}

// The gradients of a problem that has run, from these numbers of threads.
void check_the_same_bits(problem& p, std::initializer_list<std::size_t> numbers_of_threads) {
  const auto q = p.d_q;
  const auto k = p.d_k;
  const auto v = p.d_v;
  const auto same = [](const std::vector<float>& a, const std::vector<float>& b) {
    return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
  };
  for (const std::size_t workers : numbers_of_threads) {
    CAPTURE(workers);
    for (auto* all : {&p.d_q, &p.d_k, &p.d_v}) {
      for (auto& each : *all) std::fill(each.begin(), each.end(), not_a_number);
    }
    racing_executor racing{workers};
    p.run(racing, workers);
    for (std::size_t h = 0; h < q.size(); ++h) CHECK(same(q[h], p.d_q[h]));
    for (std::size_t h = 0; h < q.size(); h += p.group) CHECK((same(k[h], p.d_k[h]) && same(v[h], p.d_v[h])));
  }
}

TEST_CASE("attention gradient: the same bits from any number of threads" * support::threads) {
  std::mt19937 random(13);
  attention_layout layout = extents(2 * panel + 7, 433, 24, 20);
  layout.window = key_window::causal(10);
  problem p(layout, random, 6, 3);
  CHECK(p.run() <= 2.0);
  check_the_same_bits(p, {1, 2, 5});
}

TEST_CASE("attention gradient: few heads are cut into parts, with the same bits from any number of threads" *
          support::threads) {
  std::mt19937 random(14);
  attention_layout layout = extents(8 * panel + 7, 611, 40, 33);
  layout.window = key_window::causal(60);
  problem p(layout, random, 6, 3);
  const auto parts = [&] { return kernels::detail::gradient_tasks<arch>(p.call).parts; };
  CHECK(p.run() <= 2.0);
  CHECK(parts() > 4);  // two tasks
  check_the_same_bits(p, {2, 5});
  // Not where a bias has a gradient, which all parts would add to.
  std::vector<float> d_bias(1);
  p.gradients[0].d_bias = d_bias.data();
  CHECK(parts() == 1);
}

TEST_CASE("attention gradient: one head of many queries, and keys that none sees") {
  std::mt19937 random(15);
  attention_layout layout = extents(12 * panel, 700, 64, 64);
  layout.window = {100, 0, -200};  // the first 200 queries see nothing, nor does anyone see the last keys
  problem p(layout, random);
  CHECK(p.run() <= 2.0);
  CHECK(kernels::detail::gradient_tasks<arch>(p.call).parts > 1);
  for (std::size_t c = 0; c < 64; ++c) CHECK(p.d_q[0][199 * 64 + c] == 0.0F);
}

TEST_CASE("attention gradient: scratch fits in a second-level cache") {
  const auto bytes = [](const attention_layout& layout) {
    attention_gradient_call call;
    call.forth.layout = layout;
    return kernels::attention_gradient_scratch_bytes<arch>(call);
  };
  CHECK(bytes(extents(1024, 1024, 64, 64)) <= std::size_t{800} << 10);
  CHECK(bytes(extents(4096, 4096, 64, 64)) <= bytes(extents(1024, 1024, 64, 64)) + (std::size_t{64} << 10));
  CHECK(bytes(extents(4096, 4096, 128, 128)) <= std::size_t{1000} << 10);
  CHECK(bytes(extents(100, 1 << 20, 64, 64)) <= std::size_t{900} << 10);
}

}  // namespace
