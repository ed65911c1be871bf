// tests/kernels/attention/small.test.cpp -- attention of a few dozen queries and keys.
//
// SPDX-License-Identifier: BSL-1.0
#include "reference.hpp"
#include <dimwise/kernels/attention/small.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

namespace {

namespace kernels = dimwise::kernels;
using arch = kernels::default_arch;
using kernels::key_window;

struct extents {
  std::size_t queries, keys, head_dim, value_dim;
};

kernels::attention_layout layout_of(const extents& e, const key_window& window) {
  kernels::attention_layout layout;
  layout.queries = e.queries;
  layout.keys = e.keys;
  layout.head_dim = e.head_dim;
  layout.value_dim = e.value_dim;
  layout.scale = 1.0F / std::sqrt(static_cast<float>(e.head_dim) + 1.0F);
  layout.window = window;
  return layout;
}

bool run(reference::problem& p) {
  p.head.lse = nullptr;
  kernels::attention_call call;
  call.layout = p.layout;
  call.heads = &p.head;
  call.count = 1;
  return kernels::attention_small<arch>(call);
}

void check(const extents& e, const key_window& window, std::mt19937& random, float poison = 0.0F) {
  CAPTURE(e.queries);
  CAPTURE(e.keys);
  CAPTURE(e.head_dim);
  CAPTURE(e.value_dim);
  auto p = reference::make_problem(layout_of(e, window), random, 3);
  // A score of -inf is a hidden key by definition, so an infinite key could be one: only NaN goes there.
  if (std::isnan(poison)) p.k[static_cast<std::size_t>(p.layout.k_row) * (e.keys - 1)] = poison;
  if (poison != 0.0F) p.v[static_cast<std::size_t>(p.layout.v_row) * (e.keys / 2)] = poison;
  const bool done = run(p);
  // Where a key is hidden, a value that is not finite is left to the large kernel.
  const bool hides = window.before != key_window::unbounded || window.after != key_window::unbounded;
  if (poison == 0.0F || !hides) CHECK(done);
  if (!done) return;
  CHECK(reference::largest_error(p) <= 2.0);
  for (std::size_t i = 0; i < e.queries; ++i) {
    for (std::size_t gap = 0; gap < 3; ++gap) CHECK(std::isnan(p.out[i * (e.value_dim + 3) + e.value_dim + gap]));
  }
}

constexpr extents every_kind[] = {{6, 6, 24, 28},   {10, 10, 8, 8},   {1, 1, 1, 1},   {1, 7, 3, 5},
                                  {2, 3, 17, 33},   {5, 13, 16, 16},  {8, 8, 8, 16},  {9, 4, 7, 9},
                                  {16, 16, 16, 16}, {17, 25, 5, 3},   {32, 8, 4, 40}, {3, 48, 64, 64},
                                  {7, 12, 128, 65}, {20, 47, 31, 17}, {4, 5, 0, 6},   {3, 4, 5, 0}};

TEST_CASE("attention_small: extents of every kind, windows, NaN and infinities") {
  std::mt19937 random(1);
  const key_window windows[] = {{}, key_window::causal(), key_window::causal(2), {1, 1, 0}, {0, 3, -2}};
  for (const extents& e : every_kind) {
    for (const key_window& window : windows) {
      check(e, window, random);
      if (e.value_dim == 0 || e.head_dim == 0) continue;
      check(e, window, random, std::numeric_limits<float>::quiet_NaN());
      check(e, window, random, std::numeric_limits<float>::infinity());
    }
  }
}

TEST_CASE("attention_small: padding is not read") {
  std::mt19937 random(2);
  auto p = reference::make_problem(layout_of({5, 9, 12, 20}, {}), random);
  p.head.visible_keys = 4;
  for (std::size_t i = 4 * 12; i < p.k.size(); ++i) p.k[i] = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t i = 4 * 20; i < p.v.size(); ++i) p.v[i] = std::numeric_limits<float>::quiet_NaN();
  CHECK(run(p));
  CHECK(reference::largest_error(p) <= 2.0);
}

TEST_CASE("attention_small: several heads of one call") {
  std::mt19937 random(3);
  std::vector<reference::problem> problems;
  std::vector<kernels::attention_head> heads;
  for (int h = 0; h < 5; ++h) {
    problems.push_back(reference::make_problem(layout_of({11, 14, 6, 10}, key_window::causal(3)), random));
    problems.back().head.lse = nullptr;
    heads.push_back(problems.back().head);
  }
  kernels::attention_call call;
  call.layout = problems.front().layout;
  call.heads = heads.data();
  call.count = heads.size();
  CHECK(kernels::attention_small<arch>(call));
  for (const auto& p : problems) CHECK(reference::largest_error(p) <= 2.0);
}

TEST_CASE("attention_small: what it leaves to the large kernel") {
  std::mt19937 random(4);
  for (const extents& e : {extents{3, 0, 4, 5}, {0, 3, 4, 5}, {3, 49, 4, 5}, {3, 4, 129, 5}, {64, 48, 128, 128}}) {
    auto p = reference::make_problem(layout_of(e, {}), random);
    CHECK_FALSE(run(p));
  }
  auto p = reference::make_problem(layout_of({3, 4, 5, 6}, {}), random);
  const std::vector<float> bias(12);
  p.head.bias = bias.data();
  CHECK_FALSE(run(p));
  p.head.bias = nullptr;
  p.layout.q_feature = 2;
  CHECK_FALSE(run(p));
}

}  // namespace
