// tests/kernels/simd.test.cpp -- the owned vocabulary of registers, lane by lane.
//
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/kernels/executor.hpp>
#include <dimwise/kernels/simd.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <limits>

namespace {

namespace kernels = dimwise::kernels;
using arch = kernels::default_arch;
using vec = kernels::floats<arch>;

constexpr std::size_t n = kernels::lanes<arch>;
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

// Lane i holds i.
vec counting() { return kernels::to_floats<arch>(kernels::lane_indices<arch>()); }

TEST_CASE("simd: lanes count from 0") {
  for (std::size_t i = 0; i < n; ++i) CHECK(counting().get(i) == static_cast<float>(i));
}

TEST_CASE("simd: fma rounds once where the architecture has it") {
  const float tiny = std::ldexp(1.0F, -13);
  const vec rest = kernels::fma<arch>(vec(1.0F + tiny), vec(1.0F + tiny), vec(-1.0F - 2.0F * tiny));
  CHECK(rest.get(n - 1) == (kernels::has_fma<arch> ? tiny * tiny : 0.0F));
}

TEST_CASE("simd: partial loads and stores touch nothing else") {
  for (std::size_t count = 0; count <= n; ++count) {
    CAPTURE(count);
    float from[n];
    float to[n + 1];
    for (std::size_t i = 0; i < n; ++i) from[i] = i < count ? static_cast<float>(i) + 1.0F : not_a_number;
    for (float& x : to) x = -1.0F;
    const vec value = kernels::load_partial<arch>(from, count, 7.0F);
    for (std::size_t i = 0; i < n; ++i) CHECK(value.get(i) == (i < count ? static_cast<float>(i) + 1.0F : 7.0F));
    kernels::store_partial<arch>(to, count, value);
    for (std::size_t i = 0; i <= n; ++i) CHECK(to[i] == (i < count ? static_cast<float>(i) + 1.0F : -1.0F));
    const vec chosen = kernels::select<arch>(kernels::first_lanes<arch>(count), vec(1.0F), vec(0.0F));
    CHECK(kernels::reduce_sum<arch>(chosen) == static_cast<float>(count));
  }
}

TEST_CASE("simd: folds, with NaN in every lane") {
  const auto last = static_cast<float>(n - 1);
  CHECK(kernels::reduce_sum<arch>(counting()) == last * static_cast<float>(n) / 2.0F);
  CHECK(kernels::reduce_max<arch>(counting()) == last);
  CHECK(kernels::reduce_max<arch>(vec(-infinity)) == -infinity);
  CHECK(kernels::reduce_max_skip_nan<arch>(vec(not_a_number)) == -infinity);
  for (std::size_t lane = 0; lane < n; ++lane) {
    CAPTURE(lane);
    float from[n];
    kernels::store<arch>(from, counting());
    from[lane] = not_a_number;
    const vec value = kernels::load<arch>(from);
    CHECK(std::isnan(kernels::reduce_max<arch>(value)));
    CHECK(std::isnan(kernels::reduce_sum<arch>(value)));
    CHECK(kernels::reduce_max_skip_nan<arch>(value) == (lane + 1 == n ? last - 1.0F : last));
    const vec seen = kernels::select<arch>(kernels::is_nan<arch>(value), vec(1.0F), vec(0.0F));
    CHECK(kernels::reduce_sum<arch>(seen) == 1.0F);
    CHECK(seen.get(lane) == 1.0F);
  }
}

TEST_CASE("simd: the order of NaN and number does not matter to max_or_nan, and is the rule of max_skip_nan") {
  const vec nan(not_a_number);
  const vec one(1.0F);
  CHECK(std::isnan(kernels::max_or_nan<arch>(nan, one).get(0)));
  CHECK(std::isnan(kernels::max_or_nan<arch>(one, nan).get(0)));
  CHECK(kernels::max_skip_nan<arch>(nan, one).get(0) == 1.0F);
}

TEST_CASE("simd: transpose goes across the whole register") {
  vec rows[n];
  for (std::size_t i = 0; i < n; ++i) rows[i] = counting() + vec(100.0F * static_cast<float>(i));
  kernels::transpose<arch>(rows);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) CHECK(rows[i].get(j) == static_cast<float>(100 * j + i));
  }
}

template <std::size_t Count>
void check_sum_rows() {
  vec rows[Count];
  float truth[Count];
  for (std::size_t i = 0; i < Count; ++i) {
    rows[i] = counting() * vec(static_cast<float>(i + 1));
    truth[i] = static_cast<float>(n * (n - 1) / 2 * (i + 1));
  }
  const vec sums = kernels::sum_rows<arch>(rows);
  for (std::size_t i = 0; i < n; ++i) CHECK(sums.get(i) == truth[i % Count]);
}

TEST_CASE("simd: sums of several rows at once") {
  check_sum_rows<1>();
  check_sum_rows<2>();
  check_sum_rows<4>();
  if constexpr (n >= 8) check_sum_rows<8>();
  if constexpr (n >= 16) check_sum_rows<16>();
}

TEST_CASE("serial_executor: every task once, in order, on worker 0") {
  std::size_t next = 0;
  kernels::serial_executor executor;
  executor.parallel_for(5, [&](std::size_t task, std::size_t worker) {
    CHECK(task == next++);
    CHECK(worker == 0);
  });
  CHECK(next == 5);
}

}  // namespace
