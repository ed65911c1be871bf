// tests/kernels/attention/forward.test.cpp -- the fused attention kernel against the formula in double.
//
// Built once per architecture: everything here uses default_arch, so the compiler's flags choose.
//
// SPDX-License-Identifier: BSL-1.0
#include "kernels/attention/cases.hpp"
#include "kernels/kernel_test_support.hpp"
#include "support/threads.hpp"
#include <dimwise/kernels/attention/forward.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace {

namespace kernels = dimwise::kernels;
using arch = kernels::default_arch;
using kernels::attention_head;
using kernels::attention_layout;
using kernels::key_window;
using reference::extents;
using reference::infinity;
using reference::not_a_number;
using support::racing_executor;
using support::scratch_memory;

constexpr std::size_t strip = kernels::detail::strip_width<arch>;
constexpr std::size_t block = kernels::detail::block_keys;

template <class Score = kernels::identity_score>
void run(const reference::problem& p, const Score& score = {}) {
  scratch_memory scratch(kernels::attention_scratch_bytes<arch>(p.layout));
  kernels::serial_executor executor;
  kernels::attention<arch>(p.layout, &p.head, 1, scratch.get(), executor, score);
  CHECK(scratch.intact());
}

TEST_CASE("attention: tiles of one row remain only where no larger tiles add up to the count") {
  if (kernels::detail::tile_rows<arch> != 6 || kernels::detail::has_32_registers<arch>) return;
  for (std::size_t count = 0; count <= 128; ++count) {
    std::size_t single = 0;
    for (std::size_t left = count; left > 0;) {
      const std::size_t rows = kernels::detail::tile_step<arch>(left);
      CHECK(rows <= left);
      single += rows == 1 ? 1U : 0U;
      left -= rows;
    }
    CAPTURE(count);
    CHECK(single == (count < 4 ? count : count % 2));
  }
}

TEST_CASE("attention: every tail of the tiles") {
  std::mt19937 random(1);
  for (const std::size_t queries : {std::size_t{1}, std::size_t{3}, strip - 1, strip, strip + 1, 2 * strip + 5}) {
    for (const std::size_t keys : {std::size_t{1}, std::size_t{2}, std::size_t{5}, std::size_t{6}, std::size_t{7},
                                   block - 1, block, block + 1, 2 * block + 11}) {
      for (const std::size_t features : {1, 2, 3, 4, 5, 6, 7, 11, 16, 17, 33}) {
        CAPTURE(queries);
        CAPTURE(keys);
        CAPTURE(features);
        const auto p = reference::make_problem(extents(queries, keys, features, 34 - features), random, 3);
        run(p);
        CHECK(reference::largest_error(p) <= 2.0);
      }
    }
  }
}

TEST_CASE("attention: error over random shapes, windows and magnitudes") {
  std::mt19937 random(2);
  std::vector<double> errors;
  for (int round = 0; round < 300; ++round) {
    const reference::picker pick{random};
    attention_layout layout = extents(pick(1, 150), pick(1, 400), pick(1, 130), pick(1, 130));
    const std::size_t kind = pick(0, 3);
    const auto offset = static_cast<std::ptrdiff_t>(pick(0, 100)) - 50;
    layout.window = reference::random_window(kind, offset, pick);
    auto p = reference::make_problem(layout, random, pick(0, 1) * pick(1, 200), pick(0, 1) == 0 ? 1.0F : 3.0F);
    if (pick(0, 3) == 0) p.head.visible_keys = pick(0, p.layout.keys);
    run(p);
    const double worst = reference::largest_error(p, &errors);
    CAPTURE(round);
    CAPTURE(kind);
    CAPTURE(p.layout.queries);
    CAPTURE(p.layout.keys);
    CHECK(worst <= 2.0);
  }
  const auto p99 = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() * 99 / 100);
  std::nth_element(errors.begin(), p99, errors.end());
  CHECK(*p99 <= 1.0);
}

TEST_CASE("attention: causal and sliding windows at every edge") {
  std::mt19937 random(3);
  for (const std::ptrdiff_t offset : {-70, -1, 0, 1, 5, 95, 300}) {
    for (const std::ptrdiff_t before :
         {std::ptrdiff_t{0}, std::ptrdiff_t{1}, std::ptrdiff_t{40}, key_window::unbounded}) {
      for (const std::ptrdiff_t after :
           {std::ptrdiff_t{-30}, std::ptrdiff_t{-3}, std::ptrdiff_t{0}, std::ptrdiff_t{17}, key_window::unbounded}) {
        CAPTURE(offset);
        CAPTURE(before);
        CAPTURE(after);
        attention_layout layout = extents(2 * strip + 9, 230, 20, 13);
        layout.window = {before, after, offset};
        const auto p = reference::make_problem(layout, random);
        run(p);
        CHECK(reference::largest_error(p) <= 2.0);
      }
    }
  }
}

TEST_CASE("attention: strides of features, rows and repeated rows") {
  std::mt19937 random(4);
  const attention_layout layout = extents(70, 130, 19, 23);
  auto p = reference::make_problem(layout, random);
  reference::in_other_strides(p);
  run(p);
  CHECK(reference::largest_error(p) <= 2.0);
}

TEST_CASE("attention: bias and boolean masks of any stride") {
  std::mt19937 random(5);
  for (const bool causal : {false, true}) {
    for (const std::size_t queries : {std::size_t{5}, strip + 20}) {
      for (int kind = 0; kind < reference::kinds_of_strides; ++kind) {
        CAPTURE(causal);
        CAPTURE(queries);
        CAPTURE(kind);
        attention_layout layout = extents(queries, 140, 9, 7);
        if (causal) layout.window = key_window::causal(3);
        const auto p = reference::with_bias_and_mask(layout, kind, random);
        run(p);
        CHECK(reference::largest_error(p) <= 2.0);
      }
    }
  }
}

TEST_CASE("attention: a score function is told where it is") {
  std::mt19937 random(6);
  attention_layout layout = extents(strip + 3, 2 * block + 5, 16, 16);
  SUBCASE("full") {}
  SUBCASE("causal") { layout.window = key_window::causal(100); }
  const auto p = reference::make_problem(layout, random);
  run(p, [](const auto& s, const auto& at) {
    return s - 0.01F * kernels::to_floats<arch>(at.query - at.key) + static_cast<float>(at.head);
  });
  CHECK(reference::largest_error(p, nullptr, [](double s, std::ptrdiff_t i, std::ptrdiff_t j) {
    return s - 0.01 * static_cast<double>(i - j);
  }) <= 2.0);
}

TEST_CASE("attention: a row that sees nothing is exactly 0, its lse -inf") {
  std::mt19937 random(7);
  attention_layout layout = extents(strip + 2, 100, 8, 8);
  auto p = reference::make_problem(layout, random);
  reference::hide_all_keys(p);
  run(p);
  for (const float x : p.out) CHECK(x == 0.0F);
  for (const float x : p.lse) CHECK(x == -infinity);
}

TEST_CASE("attention: what is hidden has no effect, what is visible reaches its rows only") {
  std::mt19937 random(8);
  attention_layout layout = extents(strip + 30, 150, 10, 9);
  layout.window = key_window::causal(20);
  for (const float value : {not_a_number, infinity, -infinity}) {
    for (const std::size_t key :
         {std::size_t{0}, std::size_t{21}, std::size_t{95}, std::size_t{96}, std::size_t{149}}) {
      reference::each_poisoned(layout, key, value, random, [](const auto& p) {
        run(p);
        CHECK(reference::largest_error(p) <= 2.0);
      });
    }
  }
}

TEST_CASE("attention: enormous logits stay finite, the result in the hull of the values") {
  std::mt19937 random(9);
  const auto p = reference::with_enormous_logits(2.0e19F, random);
  run(p);
  reference::check_within_the_values(p);
  CHECK(reference::largest_error(p) <= 2.0);
}

TEST_CASE("attention: extents of zero") {
  std::mt19937 random(10);
  for (int which = 0; which < 4; ++which) {
    CAPTURE(which);
    const auto p = reference::with_an_extent_of_zero(which, random);
    run(p);
    if (which != 3) CHECK(reference::largest_error(p) <= 2.0);
  }
  kernels::serial_executor executor;
  kernels::attention<arch>(extents(5, 5, 5, 5), nullptr, 0, nullptr, executor);
}

TEST_CASE("attention: grouped heads, and the same bits from any number of threads" * support::threads) {
  std::mt19937 random(11);
  constexpr std::size_t heads = 6;
  constexpr std::size_t group = 3;
  attention_layout layout = extents(5 * strip + 7, 333, 24, 20);
  layout.window = key_window::causal(10);
  std::vector<reference::problem> problems;
  for (std::size_t h = 0; h < heads; ++h) problems.push_back(reference::make_problem(layout, random));
  layout = problems[0].layout;
  std::vector<attention_head> list;
  for (std::size_t h = 0; h < heads; ++h) {
    problems[h].head.k = problems[h / group * group].k.data();
    problems[h].head.v = problems[h / group * group].v.data();
    problems[h].layout = layout;
    list.push_back(problems[h].head);
  }
  scratch_memory one(kernels::attention_scratch_bytes<arch>(layout));
  kernels::serial_executor serial;
  kernels::attention<arch>(layout, list.data(), heads, one.get(), serial);
  std::vector<std::vector<float>> first;
  for (reference::problem& p : problems) {
    CHECK(reference::largest_error(p) <= 2.0);
    first.push_back(p.out);
    std::fill(p.out.begin(), p.out.end(), not_a_number);
  }
  for (const std::size_t workers : {1, 2, 5}) {
    racing_executor racing{workers};
    scratch_memory many(kernels::attention_scratch_bytes<arch>(layout, workers));
    kernels::attention<arch>(layout, list.data(), heads, many.get(), racing);
    CHECK(many.intact());
    for (std::size_t h = 0; h < heads; ++h) {
      CHECK(std::memcmp(first[h].data(), problems[h].out.data(), first[h].size() * sizeof(float)) == 0);
    }
  }
}

TEST_CASE("attention: scratch fits in a second-level cache and does not grow with the extents") {
  const std::size_t small = kernels::attention_scratch_bytes<arch>(extents(1024, 1024, 64, 64));
  CHECK(kernels::attention_scratch_bytes<arch>(extents(1 << 20, 1 << 20, 64, 64)) == small);
  CHECK(small <= std::size_t{512} << 10);
  CHECK(kernels::attention_scratch_bytes<arch>(extents(4096, 4096, 128, 128)) <= std::size_t{512} << 10);
}

}  // namespace
