// tests/kernels/attention/bfloat16.test.cpp -- attention in products of bfloat16 against the formula in double.
//
// The truth takes the numbers that both sides hold: q, k and v rounded to bfloat16. The kernel rounds each weight to 8
// bits, by a relative 2^-8 at most; its exponential is within 3e-6, and its sums err as those of floats.
//
// SPDX-License-Identifier: BSL-1.0
#include "kernels/attention/cases.hpp"
#include "kernels/kernel_test_support.hpp"
#include "support/threads.hpp"
#include <dimwise/kernels/dispatch/active_bfloat16.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace dimwise::kernels;
using dimwise::bfloat16;
using reference::extents;
using reference::infinity;
using reference::not_a_number;
using support::racing_executor;
using support::scratch_memory;

constexpr std::size_t strip = 64;  // queries, and keys of a block, in the kernel: the borders that are tried
constexpr std::size_t block = 96;

// Machines without these products have no such kernel.
const bfloat16_table* kernel() {
  const bfloat16_table* const table = active_bfloat16();
  if (table == nullptr) { MESSAGE("no products of bfloat16 here"); }
  return table;
}

struct options {
  score_function score;
  runner threads;
};
void run(const attention_layout& layout, const std::vector<attention_head>& heads, const options& o = {}) {
  attention_call call;
  call.layout = layout;
  call.heads = heads.data();
  call.count = heads.size();
  call.score = o.score;
  const scratch_memory scratch(kernel()->attention_bytes(call, o.threads.worker_count()));
  kernel()->attention(call, scratch.get(), o.threads);
  CHECK(scratch.intact());
}
void run(const reference::problem& p, const options& o = {}) { run(p.layout, {p.head}, o); }

// The same numbers as bfloat16 holds them.
std::vector<float> rounded(std::vector<float> numbers) {
  for (float& x : numbers) { x = static_cast<float>(bfloat16(x)); }
  return numbers;
}

// The largest error in units of what is allowed; infinity where a NaN, an infinity or an exact 0 is misplaced.
double worst_error(const reference::problem& p, const reference::score_function& score = nullptr) {
  const auto q = rounded(p.q);
  const auto k = rounded(p.k);
  const auto v = rounded(p.v);
  attention_head head = p.head;
  head.q = q.data() + (p.head.q - p.q.data());
  head.k = k.data() + (p.head.k - p.k.data());
  head.v = v.data() + (p.head.v - p.v.data());
  double worst = 0;
  for (std::size_t i = 0; i < p.layout.queries; ++i) {
    const reference::row_result truth = reference::attention_row(p.layout, head, i, score);
    for (std::size_t c = 0; c < p.layout.value_dim; ++c) {
      const double got = p.head.out[static_cast<std::ptrdiff_t>(i) * p.layout.out_row +
                                    static_cast<std::ptrdiff_t>(c) * p.layout.out_feature];
      if (!std::isfinite(truth.out[c])) {
        if (std::isfinite(got)) { worst = infinity; }
        continue;
      }
      if (got == truth.out[c]) { continue; }
      const double allowed = (std::ldexp(1.0, -8) + 1e-5) * truth.absolute[c] + 2 * truth.scale[c];
      const double error = std::abs(got - truth.out[c]) / allowed;
      worst = std::isnan(error) ? infinity : std::max(worst, error);
    }
    if (p.head.lse != nullptr) {
      const double got = p.head.lse[static_cast<std::ptrdiff_t>(i) * p.layout.lse_query];
      const bool close = std::abs(got - truth.lse) <= 1e-5 * (1 + std::abs(truth.lse));
      if (!close && got != truth.lse && !(std::isnan(got) && std::isnan(truth.lse))) { worst = infinity; }
    }
  }
  return worst;
}

TEST_CASE("the machine's own kernels have attention in bfloat16 where they have its products") {
  const char* const asked = std::getenv("DIMWISE_ARCHITECTURE");
  if (asked != nullptr && std::string(asked) != "avx512bf16") { CHECK(active_bfloat16() == nullptr); }
#if defined(DIMWISE_COMPILED_KERNELS) && defined(__x86_64__)
  if (asked == nullptr && __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vnni")) {
    CHECK(active_bfloat16() != nullptr);
  }
#endif
}

TEST_CASE("attention in bfloat16: every tail of the tiles") {
  if (kernel() == nullptr) { return; }
  std::mt19937 random(1);
  for (const std::size_t queries : {std::size_t{1}, std::size_t{3}, strip - 1, strip, strip + 1, 2 * strip + 5}) {
    for (const std::size_t keys : {std::size_t{1}, std::size_t{2}, std::size_t{5}, std::size_t{6}, std::size_t{7},
                                   block - 1, block, block + 1, 2 * block + 11}) {
      for (const std::size_t features : {1, 2, 3, 4, 5, 6, 7, 11, 16, 17, 32, 33}) {
        CAPTURE(queries);
        CAPTURE(keys);
        CAPTURE(features);
        const auto p = reference::make_problem(extents(queries, keys, features, 34 - features), random, 3);
        run(p);
        CHECK(worst_error(p) <= 1.0);
      }
    }
  }
}

TEST_CASE("attention in bfloat16: random shapes, windows and magnitudes") {
  if (kernel() == nullptr) { return; }
  std::mt19937 random(2);
  for (int round = 0; round < 300; ++round) {
    const reference::picker pick{random};
    attention_layout layout = extents(pick(1, 150), pick(1, 400), pick(1, 130), pick(1, 130));
    const std::size_t kind = pick(0, 3);
    const auto offset = static_cast<std::ptrdiff_t>(pick(0, 100)) - 50;
    layout.window = reference::random_window(kind, offset, pick);
    if (pick(0, 3) == 0) layout.scale *= -1.7F;
    auto p = reference::make_problem(layout, random, pick(0, 1) * pick(1, 200), pick(0, 1) == 0 ? 1.0F : 3.0F);
    if (pick(0, 3) == 0) p.head.visible_keys = pick(0, p.layout.keys);
    run(p);
    CAPTURE(round);
    CAPTURE(kind);
    CAPTURE(p.layout.queries);
    CAPTURE(p.layout.keys);
    CHECK(worst_error(p) <= 1.0);
  }
}

// A lane holds two keys: windows begin and end within one.
TEST_CASE("attention in bfloat16: causal and sliding windows at every edge") {
  if (kernel() == nullptr) { return; }
  std::mt19937 random(3);
  for (const std::size_t queries : {std::size_t{1}, std::size_t{5}, 2 * strip + 9}) {
    for (const std::ptrdiff_t offset : {-70, -1, 0, 1, 5, 94, 95, 300}) {
      for (const std::ptrdiff_t before :
           {std::ptrdiff_t{0}, std::ptrdiff_t{1}, std::ptrdiff_t{2}, std::ptrdiff_t{41}, key_window::unbounded}) {
        for (const std::ptrdiff_t after : {std::ptrdiff_t{-30}, std::ptrdiff_t{-3}, std::ptrdiff_t{0},
                                           std::ptrdiff_t{1}, std::ptrdiff_t{17}, key_window::unbounded}) {
          CAPTURE(queries);
          CAPTURE(offset);
          CAPTURE(before);
          CAPTURE(after);
          attention_layout layout = extents(queries, 231, 20, 13);
          layout.window = {before, after, offset};
          auto p = reference::make_problem(layout, random);
          // Nothing that is not seen counts, whatever it is.
          for (std::size_t j = 0; j < 231; ++j) {
            bool seen = false;
            for (std::size_t i = 0; i < queries && !seen; ++i) {
              seen = reference::sees(p.layout, p.head, static_cast<std::ptrdiff_t>(i), static_cast<std::ptrdiff_t>(j));
            }
            if (!seen) { std::fill_n(p.v.begin() + static_cast<std::ptrdiff_t>(j * 13), 13, not_a_number); }
          }
          run(p);
          CHECK(worst_error(p) <= 1.0);
        }
      }
    }
  }
}

TEST_CASE("attention in bfloat16: strides of features, rows and repeated rows") {
  if (kernel() == nullptr) { return; }
  std::mt19937 random(4);
  auto p = reference::make_problem(extents(70, 130, 19, 23), random);
  reference::in_other_strides(p);
  run(p);
  CHECK(worst_error(p) <= 1.0);
}

TEST_CASE("attention in bfloat16: keys and values that are stored as such give the bits that floats give") {
  if (kernel() == nullptr) { return; }
  std::mt19937 random(5);
  for (const std::size_t keys : {1, 2, 95, 97, 200}) {
    for (const std::size_t features : {1, 15, 16, 33, 64}) {
      CAPTURE(keys);
      CAPTURE(features);
      auto p = reference::make_problem(extents(70, keys, features, features), random, 5);
      run(p);
      const auto first = p.out;
      std::vector<bfloat16> k(p.k.begin(), p.k.end());
      std::vector<bfloat16> v(p.v.begin(), p.v.end());
      SUBCASE("keys") { p.head.k = nullptr; }
      SUBCASE("values") { p.head.v = nullptr; }
      SUBCASE("both") { p.head.k = p.head.v = nullptr; }
      if (p.head.k == nullptr) { p.head.k_quantised = {k.data(), number_format::bfloat16, p.layout.k_row, nullptr, 0}; }
      if (p.head.v == nullptr) { p.head.v_quantised = {v.data(), number_format::bfloat16, p.layout.v_row, nullptr, 0}; }
      std::fill(p.out.begin(), p.out.end(), not_a_number);
      run(p);
      CHECK(std::memcmp(first.data(), p.out.data(), first.size() * sizeof(float)) == 0);
    }
  }
}

TEST_CASE("attention in bfloat16: bias and boolean masks of any stride") {
  if (kernel() == nullptr) { return; }
  std::mt19937 random(6);
  for (const bool causal : {false, true}) {
    for (const std::size_t queries : {std::size_t{5}, strip + 20}) {
      for (int kind = 0; kind < reference::kinds_of_strides; ++kind) {
        CAPTURE(causal);
        CAPTURE(queries);
        CAPTURE(kind);
        attention_layout layout = extents(queries, 141, 9, 7);
        if (causal) layout.window = key_window::causal(3);
        const auto p = reference::with_bias_and_mask(layout, kind, random);
        run(p);
        CHECK(worst_error(p) <= 1.0);
      }
    }
  }
}

TEST_CASE("attention in bfloat16: soft cap and slopes") {
  if (kernel() == nullptr) { return; }
  std::mt19937 random(7);
  for (const bool causal : {false, true}) {
    attention_layout layout = extents(strip + 3, 2 * block + 5, 16, 16);
    if (causal) layout.window = key_window::causal(100);
    const auto p = reference::make_problem(layout, random);
    options o;
    o.score.soft_cap = 2;
    run(p, o);
    CHECK(worst_error(p, [](double s, std::ptrdiff_t, std::ptrdiff_t) { return 2 * std::tanh(s / 2); }) <= 1.0);
    const float slope = 0.01F;
    o.score.slopes = &slope;
    run(p, o);
    CHECK(worst_error(p, [](double s, std::ptrdiff_t i, std::ptrdiff_t j) {
      return 2 * std::tanh(s / 2) - 0.01 * static_cast<double>(std::abs(j - i));
    }) <= 1.0);
  }
}

TEST_CASE("attention in bfloat16: a row that sees nothing is exactly 0, its lse -inf") {
  if (kernel() == nullptr) { return; }
  std::mt19937 random(8);
  auto p = reference::make_problem(extents(strip + 2, 100, 8, 8), random);
  reference::hide_all_keys(p);
  run(p);
  for (const float x : p.out) CHECK(x == 0.0F);
  for (const float x : p.lse) CHECK(x == -infinity);
}

TEST_CASE("attention in bfloat16: what is hidden has no effect, what is visible reaches its rows only") {
  if (kernel() == nullptr) { return; }
  std::mt19937 random(9);
  attention_layout layout = extents(strip + 30, 151, 10, 9);
  layout.window = key_window::causal(20);
  for (const float value : {not_a_number, infinity, -infinity, 3.4e38F}) {  // the last becomes infinity
    for (const std::size_t key :
         {std::size_t{0}, std::size_t{21}, std::size_t{95}, std::size_t{96}, std::size_t{149}, std::size_t{150}}) {
      reference::each_poisoned(layout, key, value, random, [](const auto& p) {
        run(p);
        CHECK(worst_error(p) <= 1.0);
      });
      // padding, an odd number of keys before it
      auto p = reference::make_problem(layout, random);
      p.layout.window = {};
      p.head.visible_keys = key | 1U;
      std::fill(p.v.begin() + static_cast<std::ptrdiff_t>((key | 1U) * 9), p.v.end(), value);
      run(p);
      CHECK(worst_error(p) <= 1.0);
    }
  }
}

TEST_CASE("attention in bfloat16: enormous logits stay finite, the result in the hull of the values") {
  if (kernel() == nullptr) { return; }
  std::mt19937 random(10);
  const auto p = reference::with_enormous_logits(1.9e19F, random);
  run(p);
  reference::check_within_the_values(p);
}

TEST_CASE("attention in bfloat16: extents of zero") {
  if (kernel() == nullptr) { return; }
  std::mt19937 random(11);
  for (int which = 0; which < 4; ++which) {
    CAPTURE(which);
    const auto p = reference::with_an_extent_of_zero(which, random);
    run(p);
    if (which != 3) CHECK(worst_error(p) <= 1.0);
  }
}

TEST_CASE("attention in bfloat16: grouped heads, and the same bits from any number of threads" * support::threads) {
  if (kernel() == nullptr) { return; }
  std::mt19937 random(12);
  constexpr std::size_t heads = 6;
  constexpr std::size_t group = 3;
  attention_layout layout = extents(5 * strip + 7, 333, 24, 20);
  layout.window = key_window::causal(10);
  std::vector<reference::problem> problems;
  for (std::size_t h = 0; h < heads; ++h) problems.push_back(reference::make_problem(layout, random));
  layout = problems[0].layout;
  std::vector<attention_head> list;
  for (std::size_t h = 0; h < heads; ++h) {
    if (h % group != 0) {
      problems[h].k = problems[h / group * group].k;
      problems[h].v = problems[h / group * group].v;
    }
    problems[h].head.k = problems[h].k.data();
    problems[h].head.v = problems[h].v.data();
    list.push_back(problems[h].head);
    list.back().k = problems[h / group * group].k.data();
    list.back().v = problems[h / group * group].v.data();
  }
  run(layout, list);
  std::vector<std::vector<float>> first;
  for (reference::problem& p : problems) {
    CHECK(worst_error(p) <= 1.0);
    first.push_back(p.out);
    std::fill(p.out.begin(), p.out.end(), not_a_number);
  }
  for (const std::size_t workers : {1, 2, 5}) {
    racing_executor racing{workers};
    options o;
    o.threads = {workers, [](void* self, std::size_t count, runner::task f, void* context) {
      static_cast<racing_executor*>(self)->parallel_for(count, [&](std::size_t i, std::size_t w) { f(context, i, w); });
    }, &racing};
    run(layout, list, o);
    for (std::size_t h = 0; h < heads; ++h) {
      CHECK(std::memcmp(first[h].data(), problems[h].out.data(), first[h].size() * sizeof(float)) == 0);
    }
  }
}

}  // namespace
