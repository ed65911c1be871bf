// tests/kernels/rows/carried_sum.test.cpp -- sums of very many terms, of kernels and of the scalar path, against
// float64.
//
// SPDX-License-Identifier: BSL-1.0
#include "kernels/kernel_test_support.hpp"
#include <dimwise/kernels/dispatch/gradient_implementation.hpp>
#include <dimwise/kernels/gemm/product.hpp>
#include <dimwise/kernels/loops.hpp>
#include <dimwise/kernels/rows/forward.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <vector>

namespace {

using namespace dimwise::kernels;

constexpr std::size_t n = 4'000'000;
constexpr std::size_t fewer = n / 4;  // where a test takes long
constexpr float x = 0.48F;

// u (c + log2 n), relative to Σ|x|.
bool near(double is, double should) {
  const double allowed = 0x1p-24 * (64 + std::log2(static_cast<double>(n)));
  return std::abs(is - should) <= allowed * std::abs(should);
}
// n terms that are one element; the pointer that is written moves where `apart`.
loop_nest<2> row_of(std::ptrdiff_t apart) {
  loop_nest<2> row;
  row.add(n, {apart, 0});
  return row;
}
const double sum = static_cast<double>(x) * static_cast<double>(n);

}  // namespace

TEST_CASE("long sums: a row and columns, by kernels") {
  const std::vector<float> row(n, x);
  CHECK(near(sum_row(n, row.data()), sum));
  CHECK(near(mean_row(n, row.data()), x));
  for (const bool onto : {false, true}) {
    std::vector<float> out(37, 0.0F);
    sum_columns(n, 3, row.data(), 0, out.data(), onto);
    CHECK(near(out[0], sum));
    CHECK(near(out[2], sum));
    CHECK(out[3] == 0.0F);
    sum_columns(100'000, 37, row.data(), 0, out.data(), false);
    CHECK(near(out[0], static_cast<double>(x) * 1e5));
    CHECK(near(out[36], static_cast<double>(x) * 1e5));
  }
  std::vector<float> out(n);
  softmax_row(n, row.data(), out.data());
  CHECK(near(out[n / 2], 1.0 / n));
  rms_norm_row(n, row.data(), out.data(), 0.0F);
  CHECK(near(out[n / 2], 1.0));
}

TEST_CASE("long sums: the scalar path of rows") {
  std::vector<float> out(n);
  softmax_row(row_of(1), out.data(), &x, 0.0F);
  CHECK(near(out[n / 2], 1.0 / n));
  log_softmax_row(row_of(0), out.data(), &x);
  CHECK(near(out[0], -std::log(static_cast<double>(n))));
  renormalise_row(row_of(0), out.data(), &x);
  CHECK(near(out[0], 1.0 / n));
  root_mean_square_row(row_of(0), out.data(), &x, 0.0F);
  CHECK(near(out[0], 1.0));
  cumsum_row(row_of(1), out.data(), &x);
  CHECK(near(out[n - 1], sum));
  bool grows = true;
  for (std::size_t i = 1; i < n; ++i) grows = grows && out[i] >= out[i - 1];
  CHECK(grows);
}

TEST_CASE("long sums: a plain dot product") {
  const std::vector<float> a(n, x);
  const float one = 1.0F;
  for (const std::ptrdiff_t apart : {0, 1}) {
    loop_nest<3> result;
    loop_nest<2> sums;
    sums.add(n, {apart, 0});
    float out = 0;
    contract(left_out::nothing, result, sums, &out, a.data(), &one);
    CHECK(near(out, sum));
    contract(left_out::hidden, result, sums, &out, a.data(), &one);
    CHECK(near(out, sum));
  }
}

// A row of x whose last element is larger by 1: exponentials below the largest are not exact.
TEST_CASE("long sums: layer norms and logarithms of softmax, by kernels") {
  std::vector<float> row(fewer, x);
  row[fewer - 1] = x + 1;
  const double below = std::exp(-1.0);
  std::vector<float> out(fewer);
  log_softmax_row(fewer, row.data(), out.data());
  CHECK(near(out[0], -1 - std::log(1 + (fewer - 1.0) * below)));
  // Half of the elements are x, half are 2x: the mean is 1.5 x, the deviation x / 2.
  for (std::size_t i = 0; i < fewer; ++i) row[i] = i % 2 == 0 ? x : 2 * x;
  layer_norm_row(fewer, row.data(), out.data(), 0.0F);
  CHECK(near(out[0], -1.0));
  CHECK(near(out[fewer - 1], 1.0));
}

TEST_CASE("long sums: gradients of rows, by kernels") {
  std::vector<float> g(fewer, x), out(fewer), row(fewer);
  for (std::size_t i = 0; i < fewer; ++i) row[i] = 1.0F / static_cast<float>(fewer);
  // Σ p g is x and a little: what is left of the one gradient that is larger shows its digits.
  g[0] = 2 * x;
  softmax_row_gradient(fewer, row.data(), g.data(), out.data());
  CHECK(near(out[0], (static_cast<double>(x) - static_cast<double>(x) / fewer) / fewer));
  std::fill(row.begin(), row.end(), -std::log(static_cast<float>(fewer)));
  std::fill(g.begin(), g.end(), x);
  log_softmax_row_gradient(fewer, row.data(), g.data(), out.data());
  // g − exp(y) Σ g is a difference of equal numbers: what is left is the error, of the sum and of exp(y).
  CHECK(std::abs(double{out[0]}) <= 0x1p-24 * (128 + std::log2(static_cast<double>(fewer))) * x);
}

TEST_CASE("long sums: the losses of many classes, and their gradients, by kernels") {
  const std::size_t classes = fewer;
  std::vector<float> logits(classes, -0.734F), weight(classes, x), target(classes, 1.0F / static_cast<float>(classes)),
      d(classes);
  logits[5] = 0;
  const double sum_of_exponentials = 1 + (classes - 1.0) * std::exp(static_cast<double>(-0.734F));
  const double log_sum = std::log(sum_of_exponentials);
  std::size_t id = 5;
  float loss = 0;
  cross_entropy_call call;
  call.rows = 1;
  call.n = classes;
  call.logits = logits.data();
  call.ids = &id;
  call.loss = &loss;
  call.d_logits = d.data();
  cross_entropy(call);
  CHECK(near(loss, log_sum));
  CHECK(near(d[0], std::exp(static_cast<double>(-0.734F)) / sum_of_exponentials));
  // Every class is a target, of one weight.
  const double total = static_cast<double>(target[0]) * x * static_cast<double>(classes);
  call.ids = nullptr;
  call.targets = target.data();
  call.class_weight = weight.data();
  cross_entropy(call);
  CHECK(near(loss, total * log_sum + total / classes * (classes - 1.0) * static_cast<double>(0.734F)));
  CHECK(near(d[5], total / sum_of_exponentials - total / classes));
}

TEST_CASE("long sums: gradients of the parameters of a norm, by kernels") {
  constexpr std::size_t columns = 5;
  constexpr std::size_t rows = n / 16;
  const std::vector<float> in = {0.0F, 1.0F, 2.0F, 3.0F, 4.0F};
  std::vector<float> gradient(columns, x), out(columns), d_gamma(columns), d_beta(columns);
  rows_gradient_call call;
  call.rows = rows;
  call.n = columns;
  call.in = in.data();
  call.gradient = gradient.data();
  call.out = out.data();
  call.d_gamma = d_gamma.data();
  call.d_beta = d_beta.data();
  const support::scratch_memory scratch(norm_gradient_scratch_bytes(call));
  serial_executor serial;
  norm_gradient<default_arch, true>(call, scratch.get(), serial);
  // Rounded as the kernel does: what is tested is the sum over rows.
  const double normal = double{2 * (1 / std::sqrt(2.0F))};
  CHECK(near(d_beta[0], sum / 16));
  CHECK(near(d_gamma[4], sum / 16 * normal));
}

TEST_CASE("long sums: infinities stay infinities") {
  carried_sum<float> total;
  for (int i = 0; i < 5000; ++i) total += i == 40 ? std::numeric_limits<float>::infinity() : 1.0F;
  CHECK(total.value() == std::numeric_limits<float>::infinity());
}

// One row of ones times columns of x: by dot products if k is contiguous in both, else by rows of the second matrix.
TEST_CASE("long sums: products of few rows") {
  const std::vector<float> ones(n, 1.0F), values(n, x);
  struct release {
    void operator()(std::byte* p) const { ::operator delete(p, std::align_val_t(64)); }
  };
  for (const std::size_t columns : {std::size_t{1}, std::size_t{10}, std::size_t{37}}) {
    const std::size_t k = n / columns;
    for (const bool dots : {true, false}) {
      const auto row = static_cast<std::ptrdiff_t>(dots ? 1 : columns);
      const auto column = static_cast<std::ptrdiff_t>(dots ? k : 1);
      std::vector<float> out(columns);
      const std::unique_ptr<std::byte, release> scratch(
          static_cast<std::byte*>(::operator new(gemm_scratch_bytes({1, columns, k}) + 64, std::align_val_t(64))));
      gemm({1, columns, k}, {ones.data(), 0, 1}, {values.data(), row, column},
           strided_matrix<float>{out.data(), static_cast<std::ptrdiff_t>(columns), 1}, scratch.get());
      CAPTURE(columns);
      CAPTURE(dots);
      // Rows: pieces of k of at least 128 are summed one after the other, and then their sums.
      const double allowed = 0x1p-24 * static_cast<double>(dots ? 512 : 512 + k / 128);
      for (const float sum_of_column : out) {
        const double should = static_cast<double>(x) * static_cast<double>(k);
        CHECK(std::abs(sum_of_column - should) <= allowed * should);
      }
    }
  }
}

// Products of more rows and columns, as tiles: the gradient of weights is a sum over all tokens. C may be added to, and
// may have any strides.
TEST_CASE("long sums: products of many rows") {
  constexpr std::size_t rows = 1;
  constexpr std::size_t columns = 5;
  constexpr std::size_t k = n / 2;
  const float one = 1.0F;
  const std::vector<float> b(2 * columns, x);
  const support::scratch_memory scratch(gemm_scratch_bytes({rows, columns, k}));
  for (const bool onto : {false, true}) {
    for (const std::size_t apart : {std::size_t{1}, std::size_t{2}}) {
      CAPTURE(onto);
      CAPTURE(apart);
      std::vector<float> c(rows * columns * apart, 100.0F);
      const strided_matrix<float> to{c.data(), static_cast<std::ptrdiff_t>(columns * apart),
                                     static_cast<std::ptrdiff_t>(apart)};
      // All rows of A, and all rows of B, are one.
      if (onto) {
        gemm({rows, columns, k}, {&one, 0, 0}, {b.data(), 0, 1}, to, scratch.get(), add_to{to});
      } else {
        gemm({rows, columns, k}, {&one, 0, 0}, {b.data(), 0, 1}, to, scratch.get());
      }
      CHECK(scratch.intact());
      // A block of k is a sum of 384 terms, a group one of 32 blocks.
      const double should = sum / 2 + (onto ? 100.0 : 0.0);
      double worst = 0;
      for (std::size_t i = 0; i < rows * columns; ++i) worst = std::max(worst, std::abs(double{c[i * apart]} - should));
      CHECK(worst <= 0x1p-24 * (384 + 2 * 32 + std::log2(static_cast<double>(n))) * should);
    }
  }
}
