// tests/kernels/decode/attention.test.cpp -- attention of few queries over a long cache against the formula in double.
//
// SPDX-License-Identifier: BSL-1.0
#include "kernels/attention/reference.hpp"
#include "kernels/kernel_test_support.hpp"
#include "support/threads.hpp"
#include <dimwise/kernels/decode/attention.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace {

namespace kernels = dimwise::kernels;
using arch = kernels::default_arch;
using kernels::attention_head;
using kernels::attention_layout;
using kernels::key_window;
using reference::extents;
using support::scratch_memory;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr std::size_t part = kernels::detail::decode_plan<arch>::part_keys;

// `group` query heads over the k and v of the first.
struct cache_problem {
  std::vector<reference::problem> heads;

  cache_problem(const attention_layout& layout, std::size_t group, std::mt19937& random, std::size_t gap = 0) {
    for (std::size_t h = 0; h < group; ++h) heads.push_back(reference::make_problem(layout, random, gap));
    for (reference::problem& p : heads) {
      p.head.k = heads[0].head.k;
      p.head.v = heads[0].head.v;
    }
  }
  [[nodiscard]] reference::problem& first() { return heads[0]; }

  template <class Threads, class Score = kernels::identity_score>
  void run(Threads& threads, const Score& score = {}) {
    std::vector<attention_head> list;
    for (reference::problem& p : heads) {
      p.layout = heads[0].layout;
      list.push_back(p.head);
    }
    const attention_layout& layout = heads[0].layout;
    scratch_memory scratch(
        kernels::decode_scratch_bytes<arch>(layout, list.size(), list.size(), threads.worker_count()));
    kernels::decode<arch>(layout, list.data(), list.size(), list.size(), scratch.get(), threads, score);
    CHECK(scratch.intact());
  }
  void run() {
    kernels::serial_executor serial;
    run(serial);
  }
  [[nodiscard]] double largest_error(std::vector<double>* errors = nullptr) const {
    double worst = 0.0;
    for (const reference::problem& p : heads) worst = std::max(worst, reference::largest_error(p, errors));
    return worst;
  }
};

TEST_CASE("decode: every tail of features, keys and rows") {
  std::mt19937 random(1);
  for (const std::size_t group : {1, 2, 3, 4, 5, 7}) {
    for (const std::size_t keys : {std::size_t{1}, std::size_t{3}, std::size_t{4}, std::size_t{65}, part, part + 1}) {
      for (const std::size_t features : {1, 3, 15, 16, 17, 31, 64, 70, 128, 150}) {
        CAPTURE(group);
        CAPTURE(keys);
        CAPTURE(features);
        cache_problem p(extents(1, keys, features, 151 - features), group, random, 2);
        p.run();
        CHECK(p.largest_error() <= 2.0);
      }
    }
  }
}

// A group prefetches either the rows that follow, a gap of 2 between them, or the matrix that is read next.
static_assert(kernels::detail::decode_further(128, 130) == 17 * 130);
static_assert(kernels::detail::decode_prefetches_on<arch, 4, kernels::detail::float_rows<arch>> ==
              (kernels::lanes<arch> == 16));

TEST_CASE("decode: more keys than a part, several turns of K and V") {
  std::mt19937 random(7);
  for (const std::size_t group : {1, 2, 3, 4, 6}) {
    const attention_layout layout = extents(1, 4200, 128, 131);
    CHECK(kernels::detail::decode_plan<arch>(layout, group, group).parts == 9);
    cache_problem p(layout, group, random, 2);
    p.run();
    CAPTURE(group);
    CHECK(p.largest_error() <= 2.0);
  }
}

TEST_CASE("decode: error over random shapes and windows") {
  std::mt19937 random(2);
  std::vector<double> errors;
  for (int round = 0; round < 150; ++round) {
    const auto pick = [&](std::size_t low, std::size_t high) {
      return std::uniform_int_distribution<std::size_t>(low, high)(random);
    };
    attention_layout layout = extents(pick(1, 4), pick(1, 1500), pick(1, 140), pick(1, 140));
    const auto keys = static_cast<std::ptrdiff_t>(layout.keys);
    if (pick(0, 1) == 0) layout.window = key_window::causal(keys - static_cast<std::ptrdiff_t>(pick(0, 8)));
    if (pick(0, 3) == 0) layout.window.before = static_cast<std::ptrdiff_t>(pick(0, 700));
    cache_problem p(layout, pick(1, 4), random, pick(0, 40));
    if (pick(0, 3) == 0) {
      const std::size_t visible = pick(0, layout.keys);
      for (reference::problem& head : p.heads) head.head.visible_keys = visible;
    }
    p.run();
    CAPTURE(round);
    CHECK(p.largest_error(&errors) <= 2.0);
  }
  const auto p99 = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() * 99 / 100);
  std::nth_element(errors.begin(), p99, errors.end());
  CHECK(*p99 <= 1.0);
}

TEST_CASE("decode: bias, mask and a score function") {
  std::mt19937 random(3);
  cache_problem p(extents(2, 700, 20, 24), 3, random);
  reference::problem& first = p.first();
  SUBCASE("bias and mask") {
    first.layout.bias_query = first.layout.allow_query = 700;
    first.layout.bias_key = first.layout.allow_key = 1;
    for (reference::problem& head : p.heads) {
      head.bias.resize(1400);
      reference::fill(head.bias, random, 2.0F);
      head.head.bias = head.bias.data();
      head.allow.resize(1400);
      for (char& a : head.allow) a = random() % 3 != 0 ? 1 : 0;
      head.head.allow = reinterpret_cast<const bool*>(head.allow.data());
    }
    p.run();
    CHECK(p.largest_error() <= 2.0);
  }
  SUBCASE("score function") {
    kernels::serial_executor serial;
    p.run(serial, [](const auto& s, const auto& at) {
      return s - 0.01F * kernels::to_floats<arch>(at.query - at.key) * static_cast<float>(at.head + 1);
    });
    for (std::size_t h = 0; h < p.heads.size(); ++h) {
      CHECK(reference::largest_error(p.heads[h], nullptr, [&](double s, std::ptrdiff_t i, std::ptrdiff_t j) {
        return s - 0.01 * static_cast<double>(i - j) * static_cast<double>(h + 1);
      }) <= 2.0);
    }
  }
  SUBCASE("features that do not lie side by side") {
    first.layout.q_row = first.layout.out_row = 1;
    first.layout.q_feature = first.layout.out_feature = 2;
    first.layout.k_row = first.layout.v_row = 1;
    first.layout.k_feature = first.layout.v_feature = 700;
    p.run();
    CHECK(p.largest_error() <= 2.0);
  }
}

TEST_CASE("decode: nothing visible is exactly 0, hidden poison has no effect, visible poison does") {
  std::mt19937 random(4);
  for (const float poison : {not_a_number, infinity}) {
    for (const std::size_t key : {std::size_t{0}, std::size_t{100}, std::size_t{599}}) {
      for (int where = 0; where < 3; ++where) {
        CAPTURE(poison);
        CAPTURE(key);
        CAPTURE(where);
        attention_layout layout = extents(3, 600, 10, 9);
        layout.window = {450, 0, 597};
        cache_problem p(layout, 2, random);
        if (where != 1) p.first().k[key * 10 + 3] = poison;
        if (where != 0) p.first().v[key * 9 + 5] = poison;
        p.run();
        CHECK(p.largest_error() <= 2.0);
      }
    }
  }
  cache_problem p(extents(2, 600, 10, 9), 2, random);
  for (reference::problem& head : p.heads) head.head.visible_keys = 0;
  std::fill(p.first().v.begin(), p.first().v.end(), not_a_number);
  p.run();
  for (const reference::problem& head : p.heads) {
    for (const float x : head.out) CHECK(x == 0.0F);
    for (const float x : head.lse) CHECK(x == -infinity);
  }
}

TEST_CASE("decode: extents of zero") {
  std::mt19937 random(5);
  for (int which = 0; which < 4; ++which) {
    CAPTURE(which);
    cache_problem p(extents(which == 0 ? 0 : 2, which == 1 ? 0 : 7, which == 2 ? 0 : 3, which == 3 ? 0 : 4), 2, random);
    p.run();
    if (which != 3) CHECK(p.largest_error() <= 2.0);
  }
}

TEST_CASE("decode: the same bits from any number of threads" * support::threads) {
  std::mt19937 random(6);
  cache_problem p(extents(2, 5000, 33, 40), 4, random);
  p.run();
  std::vector<std::vector<float>> first;
  for (const reference::problem& head : p.heads) first.push_back(head.out);
  for (const std::size_t workers : {2, 3}) {
    support::racing_executor racing{workers};
    p.run(racing);
    for (std::size_t h = 0; h < first.size(); ++h) {
      CHECK(std::memcmp(first[h].data(), p.heads[h].out.data(), first[h].size() * sizeof(float)) == 0);
    }
  }
}

}  // namespace
