// tests/fuzz/attention/operands.cpp -- extents, masks and bounds of attention.
//
// SPDX-License-Identifier: BSL-1.0
#include "attention.hpp"

#include <functional>

namespace fuzz {

attention_extents draw_attention(attempt& a, positions where) {
  const std::size_t most_queries = a.random.one_in(3) ? 5 : 130;  // few queries take kernels of their own
  const std::size_t most_batch = a.random.one_in(2) ? 1 : 4;
  auto [b, s, t, h, k, v] = a.extents<6>({{1, most_batch}, {0, most_queries}, {0, 130}, {1, 4}, {1, 130}, {1, 130}});
  const bool from_0 = where == positions::equal || a.random.one_in(3);
  if (from_0 || (where == positions::any && a.random.one_in(2))) {
    if (from_0) { t = s; }
    return {batch{b}, seq{s}, key{t}, heads{h}, d_k{k}, d_v{v}};
  }
  const std::ptrdiff_t first_key = a.random.one_in(2) ? 0 : a.random.between(-4, 40);
  const std::ptrdiff_t first_query = first_key + a.random.between(-5, static_cast<std::ptrdiff_t>(t) + 3);
  a.note("first query at " + std::to_string(first_query) + ", first key at " + std::to_string(first_key));
  return {batch{b}, starting_at(seq{s}, first_query), starting_at(key{t}, first_key), heads{h}, d_k{k}, d_v{v}};
}

double largest_product(std::span<const double> q_norms, std::span<const double> k_norms) {
  double q = 0;
  double k = 0;
  for (const double n : q_norms) { q = std::max(q, n); }
  for (const double n : k_norms) { k = std::max(k, n); }
  return q * k;
}

float poison(attempt& a) {
  constexpr float bad[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                           -std::numeric_limits<float>::infinity(), 3e38F, -3e38F};
  a.poisoned();
  return a.random.one_of(bad);
}

window<seq, key> draw_window(attempt& a, const attention_extents& e) {
  const auto t = static_cast<std::ptrdiff_t>(e.t.extent());
  const std::ptrdiff_t left = a.random.between(-1, a.random.one_in(2) ? 3 : t + 2);
  const std::ptrdiff_t right = a.random.between(-1, a.random.one_in(2) ? 1 : t + 2);
  a.note("window " + std::to_string(left) + ' ' + std::to_string(right));
  return {left, right};
}

namespace {
std::ptrdiff_t position(const auto& d, std::size_t i) {
  const std::ptrdiff_t origin = d.given_origin();
  return static_cast<std::ptrdiff_t>(i) + (origin == dimwise::detail::unknown_origin ? 0 : origin);
}
}  // namespace

bool in_window(const attention_extents& e, const window<seq, key>& w, std::size_t i, std::size_t j) {
  const std::ptrdiff_t ahead = position(e.t, j) - position(e.s, i);
  return (w.left() < 0 || -ahead <= w.left()) && (w.right() < 0 || ahead <= w.right());
}

std::function<int()> draw_lengths(attempt& a, std::size_t keys) {
  const std::size_t how = a.random.below(4);
  const bool wrong = a.random.one_in(16);  // some of them are no lengths
  return [&a, keys, how, wrong] {
    if (wrong && a.random.one_in(3)) { return a.random.one_in(2) ? -1 : static_cast<int>(keys) + 1; }
    if (how == 0) { return static_cast<int>(keys); }
    if (how == 1) { return a.random.one_in(2) ? 0 : 1 % static_cast<int>(keys + 1); }
    return static_cast<int>(a.random.below(keys + 1));
  };
}

std::function<bool()> draw_bools(attempt& a) {
  const std::size_t how = a.random.below(5);
  return [&a, how] {
    switch (how) {
      case 0:
        return true;
      case 1:
        return a.random.one_in(20);
      case 2:
        return !a.random.one_in(20);
      default:
        return a.random.one_in(2);
    }
  };
}

}  // namespace fuzz
