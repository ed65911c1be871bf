// tests/kernels/attention/cases.hpp -- inputs that each kernel of fused attention is tried with.
//
// Functions with SUBCASEs choose one of several inputs: call them once in a test case.
//
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "kernels/attention/reference.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>

namespace reference {

/// The same problem with other strides of features and rows.
template <class T>
void in_other_strides(problem_of<T>& p) {
  const auto rows = static_cast<std::ptrdiff_t>(p.layout.queries);
  const auto columns = static_cast<std::ptrdiff_t>(p.layout.keys);
  SUBCASE("feature-major q, k, v and out") {
    p.layout.q_row = p.layout.k_row = p.layout.v_row = p.layout.out_row = 1;
    p.layout.q_feature = p.layout.out_feature = rows;
    p.layout.k_feature = p.layout.v_feature = columns;
  }
  SUBCASE("one query and key for all") { p.layout.q_row = p.layout.k_row = 0; }
  SUBCASE("backwards") {
    p.head.k += (columns - 1) * p.layout.k_row;
    p.head.v += (columns - 1) * p.layout.v_row;
    p.layout.k_row = -p.layout.k_row;
    p.layout.v_row = -p.layout.v_row;
  }
}

/// How many kinds of strides `with_bias_and_mask` knows.
inline constexpr int kinds_of_strides = 8;

/// A problem with a bias, a mask or both. The kind chooses which of them is constant or transposed.
template <class T>
problem_of<T> with_bias_and_mask(const attention_layout_of<T>& layout, int kind, std::mt19937& random) {
  auto p = make_problem(layout, random);
  p.bias.resize(layout.queries * layout.keys);
  fill(p.bias, random, T{2});
  p.allow.resize(layout.queries * layout.keys);
  for (char& a : p.allow) a = random() % 3 != 0 ? 1 : 0;
  const auto row = static_cast<std::ptrdiff_t>(layout.keys);
  const auto column = static_cast<std::ptrdiff_t>(layout.queries);
  if (kind != 1) {
    p.head.bias = p.bias.data();
    p.layout.bias_query = kind == 2 ? 0 : kind == 3 ? 1 : row;
    p.layout.bias_key = kind == 3 ? column : kind == 4 ? 0 : 1;
  }
  if (kind != 0) {
    p.head.allow = reinterpret_cast<const bool*>(p.allow.data());
    p.layout.allow_query = kind == 5 ? 0 : kind == 6 ? 1 : row;
    p.layout.allow_key = kind == 6 ? column : kind == 7 ? 0 : 1;
  }
  return p;
}

/// Hides every key from every query.
template <class T>
void hide_all_keys(problem_of<T>& p) {
  SUBCASE("no visible keys") { p.head.visible_keys = 0; }
  SUBCASE("window before the first key") { p.layout.window = {5, 0, -1000}; }
  SUBCASE("window after the last key") { p.layout.window = {5, 0, 1000}; }
  SUBCASE("mask, over values of NaN") {
    p.allow.assign(p.layout.keys, 0);
    p.head.allow = reinterpret_cast<const bool*>(p.allow.data());
    p.layout.allow_key = 1;
    std::fill(p.v.begin(), p.v.end(), T{not_a_number});
  }
  SUBCASE("bias of -inf") {
    p.bias.assign(1, -infinity);
    p.head.bias = p.bias.data();
  }
}

/// Where `poison` writes a value that must not spread.
enum class poisoned : std::uint8_t { keys, values, queries, hidden_key, hidden_key_without_window };

/// Writes `value` into one element, or into everything of a key that a mask hides from every query.
template <class T>
void poison(problem_of<T>& p, poisoned where, std::size_t key, T value) {
  const std::size_t features = p.layout.head_dim;
  const std::size_t values = p.layout.value_dim;
  switch (where) {
    case poisoned::keys:
      p.k[key * features + 3] = value;
      return;
    case poisoned::values:
      p.v[key * values + 5] = value;
      return;
    case poisoned::queries:
      p.q[7 * features + 1] = value;
      return;
    case poisoned::hidden_key:
    case poisoned::hidden_key_without_window:
      break;
  }
  p.allow.assign(p.layout.keys, 1);
  p.allow[key] = 0;
  p.head.allow = reinterpret_cast<const bool*>(p.allow.data());
  p.layout.allow_key = 1;
  p.bias.assign(p.layout.keys, T{0.5F});
  p.bias[key] = value;
  p.head.bias = p.bias.data();
  p.layout.bias_key = 1;
  std::fill_n(p.k.begin() + static_cast<std::ptrdiff_t>(key * features), features, value);
  std::fill_n(p.v.begin() + static_cast<std::ptrdiff_t>(key * values), values, value);
  if (where == poisoned::hidden_key_without_window) p.layout.window = {};
}

/// check(p) for problems with `value` at each of these places in turn.
template <class Layout, class T, class Check>
void each_poisoned(const Layout& layout, std::size_t key, T value, std::mt19937& random, const Check& check) {
  for (const poisoned where : {poisoned::keys, poisoned::values, poisoned::queries, poisoned::hidden_key,
                               poisoned::hidden_key_without_window}) {
    CAPTURE(value);
    CAPTURE(key);
    CAPTURE(static_cast<int>(where));
    auto p = make_problem(layout, random);
    poison(p, where, key, value);
    check(p);
  }
}

/// Queries and keys whose scores are near the largest float; `size` is that of the keys.
inline problem with_enormous_logits(float size, std::mt19937& random) {
  attention_layout layout = extents(40, 120, 2, 6);
  layout.scale = 1.0F;
  auto p = make_problem(layout, random);
  for (std::size_t i = 0; i < p.q.size(); ++i) p.q[i] = i % 2 == 0 ? 1.5e19F : -1.0F;
  for (std::size_t i = 0; i < p.k.size(); ++i) p.k[i] = i % 2 == 0 ? (i % 3 == 0 ? size : -size) : 0.5F;
  return p;
}

/// The result is finite and between the smallest and the largest value.
inline void check_within_the_values(const problem& p) {
  for (const float x : p.out) {
    CHECK(std::isfinite(x));
    CHECK(std::abs(x) <= *std::max_element(p.v.begin(), p.v.end()) - *std::min_element(p.v.begin(), p.v.end()));
  }
}

/// A problem of which one extent is 0: queries, keys, features or values. Without values there is nothing to compare.
template <class T = float>
problem_of<T> with_an_extent_of_zero(int which, std::mt19937& random) {
  return make_problem(extents<T>(which == 0 ? 0 : 5, which == 1 ? 0 : 7, which == 2 ? 0 : 3, which == 3 ? 0 : 4),
                      random);
}

}  // namespace reference
