// tests/kernels/rows/forward.test.cpp -- rows.hpp, reduce.hpp and map.hpp against reference loops in double.
//
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/kernels/rows/forward.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <random>
#include <vector>

namespace {

using namespace dimwise::kernels;
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr double unit = 1.0 / (1 << 24);  // half an ulp of 1
constexpr float untouched = 12345.0F;

// Every tail of one, two and four registers, and nothing at all.
std::vector<std::size_t> extents() {
  std::vector<std::size_t> out;
  for (std::size_t n = 0; n <= 70; ++n) out.push_back(n);
  for (std::size_t n : {127, 128, 129, 500, 1000}) out.push_back(n);
  return out;
}

// Unaligned on purpose: starts one float into its memory, and is followed by a guard.
struct row_data {
  std::vector<float> memory;
  std::size_t n;
  explicit row_data(std::size_t count) : memory(count + 2, untouched), n(count) {}
  float* begin() { return memory.data() + 1; }
  const float* begin() const { return memory.data() + 1; }
  float& operator[](std::size_t i) { return memory[i + 1]; }
  float operator[](std::size_t i) const { return memory[i + 1]; }
  bool guards_hold() const { return memory.front() == untouched && memory.back() == untouched; }
};

row_data random_row(std::size_t n, float low, float high, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> number(low, high);
  row_data out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = number(random);
  return out;
}

std::vector<double> exact_softmax(const std::vector<float>& x) {
  double largest = -infinity;
  for (float v : x) largest = std::max(largest, static_cast<double>(v));
  double sum = 0;
  std::vector<double> out(x.size(), 0.0);
  if (largest == -infinity) return out;
  for (std::size_t i = 0; i < x.size(); ++i) sum += out[i] = std::exp(x[i] - largest);
  for (double& v : out) v /= sum;
  return out;
}

std::vector<float> plain(const row_data& x) { return {x.begin(), x.begin() + x.n}; }

// A weight is e / sum: 3 ulp of exp_nonpositive and the rounding of x - max (|x - max| half ulps of 1, e^d - 1 = d) in
// numerator and sum alike, n roundings at most in the sum, two for the product with the reciprocal.
double softmax_tolerance(double weight, double spread, std::size_t n) {
  return weight * unit * (12 + 2 * spread + 2 + static_cast<double>(n)) + 1e-38;
}

}  // namespace

TEST_CASE("rows: softmax of a contiguous row") {
  for (std::size_t n : extents()) {
    CAPTURE(n);
    row_data x = random_row(n, -9, 9, static_cast<unsigned>(n));
    for (std::size_t i = 0; i < n; i += 3) x[i] = i % 2 == 0 ? -infinity : x[i];
    row_data y(n);
    softmax_row(n, x.begin(), y.begin());
    const auto exact = exact_softmax(plain(x));
    for (std::size_t i = 0; i < n; ++i) {
      CAPTURE(i);
      if (x[i] == -infinity) CHECK(y[i] == 0.0F);
      else CHECK(std::fabs(y[i] - exact[i]) <= softmax_tolerance(exact[i], 18, n));
    }
    CHECK(y.guards_hold());
    row_data in_place = x;
    softmax_row(n, in_place.begin(), in_place.begin());
    CHECK(in_place.memory == y.memory);
  }
}

TEST_CASE("rows: masked rows, NaN and infinity in softmax and log-softmax") {
  for (std::size_t n : {1, 2, 15, 16, 17, 40}) {
    CAPTURE(n);
    row_data x(n), y(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = -infinity;
    softmax_row(n, x.begin(), y.begin());
    for (std::size_t i = 0; i < n; ++i) CHECK(y[i] == 0.0F);
    softmax_row(n, x.begin(), y.begin(), -0.0F);
    for (std::size_t i = 0; i < n; ++i) CHECK(std::signbit(y[i]));
    log_softmax_row(n, x.begin(), y.begin());
    for (std::size_t i = 0; i < n; ++i) CHECK(y[i] == -infinity);
    for (float bad : {not_a_number, infinity}) {
      for (std::size_t at = 0; at < n; at += 7) {
        for (std::size_t i = 0; i < n; ++i) x[i] = i % 2 == 0 ? 1.0F : -infinity;
        x[at] = bad;
        softmax_row(n, x.begin(), y.begin());
        for (std::size_t i = 0; i < n; ++i) CHECK((x[i] == -infinity ? y[i] == 0.0F : std::isnan(y[i])));
        log_softmax_row(n, x.begin(), y.begin());
        for (std::size_t i = 0; i < n; ++i) CHECK((x[i] == -infinity ? y[i] == -infinity : std::isnan(y[i])));
      }
    }
    CHECK(y.guards_hold());
  }
}

TEST_CASE("rows: softmax far from zero, and weights that vanish") {
  row_data x(3), y(3);
  x[0] = 3e38F, x[1] = -3e38F, x[2] = 3e38F;
  softmax_row(3, x.begin(), y.begin());
  CHECK(y[0] == 0.5F);
  CHECK(y[1] == 0.0F);
  CHECK(y[2] == 0.5F);
}

TEST_CASE("rows: log-softmax of a contiguous row") {
  for (std::size_t n : extents()) {
    CAPTURE(n);
    row_data x = random_row(n, -9, 9, static_cast<unsigned>(n) + 1);
    if (n > 4) x[3] = -infinity;
    row_data y(n);
    log_softmax_row(n, x.begin(), y.begin());
    const auto exact = exact_softmax(plain(x));
    for (std::size_t i = 0; i < n; ++i) {
      // Two subtractions of numbers up to 18 + log n, and the relative error of the sum, which log makes absolute.
      const double tolerance = unit * (2 * (18 + std::log(static_cast<double>(n)) + 2) + 20 + static_cast<double>(n));
      if (x[i] == -infinity) CHECK(y[i] == -infinity);
      else CHECK(std::fabs(y[i] - std::log(exact[i])) <= tolerance);
    }
    CHECK(y.guards_hold());
  }
}

TEST_CASE("rows: layer norm and rms norm") {
  for (std::size_t n : extents()) {
    for (int affine = 0; affine < 2; ++affine) {
      CAPTURE(n);
      // A mean far from zero: the formula E[x^2] - E[x]^2 would lose all digits.
      const row_data x = random_row(n, 999, 1001, static_cast<unsigned>(n) + 2);
      const row_data gamma = random_row(n, -2, 2, 3), beta = random_row(n, -2, 2, 4);
      row_data y(n), z(n);
      layer_norm_row(n, x.begin(), y.begin(), 1e-5F, affine != 0 ? gamma.begin() : nullptr,
                     affine != 0 ? beta.begin() : nullptr);
      rms_norm_row(n, x.begin(), z.begin(), 1e-6F, affine != 0 ? gamma.begin() : nullptr);
      double mean = 0, variance = 0, squares = 0;
      for (std::size_t i = 0; i < n; ++i) mean += x[i] / static_cast<double>(n);
      for (std::size_t i = 0; i < n; ++i) variance += (x[i] - mean) * (x[i] - mean) / static_cast<double>(n);
      for (std::size_t i = 0; i < n; ++i) squares += static_cast<double>(x[i]) * x[i] / static_cast<double>(n);
      for (std::size_t i = 0; i < n; ++i) {
        const double g = affine != 0 ? gamma[i] : 1, b = affine != 0 ? beta[i] : 0;
        const double scale = 1 / std::sqrt(variance + 1e-5);
        // The mean, about 1000, is summed in float: its error of a few ulp of 1000 * n / lanes is what is left.
        const double off = unit * 1001 * (4 + static_cast<double>(n) / 16) * 4;
        CHECK(std::fabs(y[i] - ((x[i] - mean) * scale * g + b)) <=
              std::fabs(g) * scale * off * (1 + std::fabs(x[i] - mean) * scale) + 8 * unit * (2 + std::fabs(b)) +
                  off * off * scale * scale * scale * 2);
        const double exact = x[i] / std::sqrt(squares + 1e-6) * g;
        CHECK(std::fabs(z[i] - exact) <= std::fabs(exact) * unit * (8 + static_cast<double>(n) / 2));
      }
      CHECK(y.guards_hold());
      CHECK(z.guards_hold());
    }
  }
  row_data x(20), y(20);
  for (std::size_t i = 0; i < 20; ++i) x[i] = 1;
  x[7] = not_a_number;
  layer_norm_row(20, x.begin(), y.begin(), 1e-5F);
  for (std::size_t i = 0; i < 20; ++i) CHECK(std::isnan(y[i]));
}

TEST_CASE("rows: sum, mean, max and min") {
  for (std::size_t n : extents()) {
    CAPTURE(n);
    row_data x = random_row(n, -5, 5, static_cast<unsigned>(n) + 5);
    double sum = 0, magnitude = 0;
    float largest = -infinity, least = infinity;
    for (std::size_t i = 0; i < n; ++i) {
      sum += x[i], magnitude += std::fabs(x[i]);
      largest = std::max(largest, x[i]);
      least = std::min(least, x[i]);
    }
    // Any order of n additions errs by less than n half ulps of the sum of magnitudes.
    CHECK(std::fabs(sum_row(n, x.begin()) - sum) <= unit * static_cast<double>(n) * magnitude);
    CHECK(max_row(n, x.begin()) == largest);
    CHECK(min_row(n, x.begin()) == least);
    if (n == 0) continue;
    CHECK(std::fabs(mean_row(n, x.begin()) - sum / static_cast<double>(n)) <= unit * (magnitude + 5));
    for (std::size_t at = 0; at < n; at += 5) {
      const float kept = x[at];
      x[at] = not_a_number;
      CHECK(std::isnan(max_row(n, x.begin())));
      CHECK(std::isnan(min_row(n, x.begin())));
      CHECK(std::isnan(sum_row(n, x.begin())));
      x[at] = kept;
    }
    for (std::size_t i = 0; i < n; ++i) x[i] = -7;  // a tail padded with zeros would win
    CHECK(max_row(n, x.begin()) == -7.0F);
    for (std::size_t i = 0; i < n; ++i) x[i] = 7;
    CHECK(min_row(n, x.begin()) == 7.0F);
  }
}

TEST_CASE("rows: sum, max and min down columns") {
  for (std::size_t columns : extents()) {
    for (std::size_t extent : {0, 1, 9}) {
      const auto stride = static_cast<std::ptrdiff_t>(columns + 1);
      const row_data x = random_row(extent * (columns + 1), -5, -1, static_cast<unsigned>(columns) + 6);
      row_data sums(columns), largest(columns), least(columns), onto(columns), lower(columns);
      sum_columns(extent, columns, x.begin(), stride, sums.begin());
      max_columns(extent, columns, x.begin(), stride, largest.begin());
      min_columns(extent, columns, x.begin(), stride, least.begin());
      for (std::size_t c = 0; c < columns; ++c) onto[c] = 1, lower[c] = -4;
      sum_columns(extent, columns, x.begin(), stride, onto.begin(), true);
      min_columns(extent, columns, x.begin(), stride, lower.begin(), true);
      for (std::size_t c = 0; c < columns; ++c) {
        double sum = 0;
        float top = -infinity, bottom = infinity;
        for (std::size_t i = 0; i < extent; ++i) {
          sum += x[i * (columns + 1) + c];
          top = std::max(top, x[i * (columns + 1) + c]);
          bottom = std::min(bottom, x[i * (columns + 1) + c]);
        }
        CHECK(std::fabs(sums[c] - sum) <= unit * 9 * 45);
        CHECK(largest[c] == top);
        CHECK(least[c] == bottom);
        CHECK(lower[c] == std::min(bottom, -4.0F));
        CHECK(std::fabs(onto[c] - 1 - sum) <= unit * 10 * 46);
      }
      CHECK(sums.guards_hold());
      CHECK(largest.guards_hold());
    }
  }
}

TEST_CASE("rows: norms along rows and down columns") {
  for (std::size_t n : extents()) {
    for (const float scale : {1e-44F, 1e-25F, 1.0F, 1e25F, 2e36F}) {
      CAPTURE(n);
      CAPTURE(scale);
      row_data x = random_row(n, -5, 5, static_cast<unsigned>(n) + 9);
      double squares = 0;
      for (std::size_t i = 0; i < n; ++i) x[i] *= scale, squares += static_cast<double>(x[i]) * x[i];
      const double exact = std::sqrt(squares);
      const double allowed = unit * (static_cast<double>(n) + 4) * exact + 1e-45;
      CHECK(std::fabs(norm_row(n, x.begin()) - exact) <= allowed);
      // The columns of a matrix of one column, and a row of columns of one element.
      row_data one(1), each(n);
      norm_columns(n, 1, x.begin(), 1, one.begin());
      CHECK(std::fabs(one[0] - exact) <= allowed);
      norm_columns(1, n, x.begin(), 1, each.begin());
      for (std::size_t i = 0; i < n; ++i) CHECK(std::fabs(each[i] - std::fabs(x[i])) <= unit * 2 * std::fabs(x[i]));
      for (std::size_t i = 0; i < n; ++i) each[i] = i % 2 == 0 ? 3 * scale : 0;
      norm_columns(1, n, x.begin(), 1, each.begin(), true);
      for (std::size_t i = 0; i < n; ++i) {
        const double both = std::hypot(static_cast<double>(x[i]), i % 2 == 0 ? double{3 * scale} : 0.0);
        CHECK(std::fabs(each[i] - both) <= unit * 6 * both + 1e-45);
      }
      CHECK(each.guards_hold());
      CHECK(one.guards_hold());
      if (n == 0) continue;
      for (std::size_t at = 0; at < n; at += 5) {
        const float kept = x[at];
        for (const float bad : {not_a_number, infinity, -infinity}) {
          x[at] = bad;
          const float expected = std::fabs(bad);
          CHECK((norm_row(n, x.begin()) == expected || (std::isnan(expected) && std::isnan(norm_row(n, x.begin())))));
          norm_columns(n, 1, x.begin(), 1, one.begin());
          CHECK((one[0] == expected || (std::isnan(expected) && std::isnan(one[0]))));
        }
        x[at] = kept;
      }
    }
  }
}

TEST_CASE("rows: maps and zips") {
  for (std::size_t n : extents()) {
    CAPTURE(n);
    const row_data x = random_row(n, -5, 5, 7), y = random_row(n, 1, 5, 8);
    row_data out(n), same = x;
    map_floats(n, x.begin(), out.begin(), relu_of{});
    map_floats(n, same.begin(), same.begin(), relu_of{});
    for (std::size_t i = 0; i < n; ++i) CHECK(out[i] == (x[i] < 0 ? 0.0F : x[i]));
    CHECK(same.memory == out.memory);
    zip_floats(n, x.begin(), y.begin(), out.begin(), divide_of{});
    for (std::size_t i = 0; i < n; ++i) CHECK(out[i] == x[i] / y[i]);
    zip_floats(n, x.begin(), y.begin(), out.begin(), min_of{});
    for (std::size_t i = 0; i < n; ++i) CHECK(out[i] == std::min(x[i], y[i]));
    zip_number(n, x.begin(), 2.5F, out.begin(), multiply_of{});
    for (std::size_t i = 0; i < n; ++i) CHECK(out[i] == x[i] * 2.5F);
    CHECK(out.guards_hold());
  }
  row_data a(2), b(2), out(2);
  a[0] = not_a_number, a[1] = 1, b[0] = 1, b[1] = not_a_number;
  zip_floats(2, a.begin(), b.begin(), out.begin(), max_of{});
  CHECK((std::isnan(out[0]) && std::isnan(out[1])));
  zip_floats(2, a.begin(), b.begin(), out.begin(), min_of{});
  CHECK((std::isnan(out[0]) && std::isnan(out[1])));
}

TEST_CASE("rows: comparisons and choices, at every tail and step") {
  const auto bools = [](std::size_t n, unsigned seed) {
    std::mt19937 random(seed);
    auto out = std::make_unique<bool[]>(n + 1);
    for (std::size_t i = 0; i < n; ++i) out[i] = random() % 2 == 0;
    return out;
  };
  for (std::size_t n : extents()) {
    CAPTURE(n);
    row_data x = random_row(n, -1, 1, 11), y = random_row(n, -1, 1, 12);
    for (std::size_t i = 0; i < n; i += 3) y[i] = x[i];
    if (n > 4) x[4] = not_a_number;
    const auto out = std::make_unique<bool[]>(n + 1);
    const auto check = [&](auto f, auto holds, std::ptrdiff_t step_x, std::ptrdiff_t step_y) {
      compare_floats(n, x.begin(), step_x, y.begin(), step_y, out.get(), f);
      for (std::size_t i = 0; i < n; ++i) CHECK(out[i] == holds(x[step_x == 0 ? 0 : i], y[step_y == 0 ? 0 : i]));
      CHECK(!out[n]);
    };
    using vec = floats<default_arch>;
    for (const std::ptrdiff_t step_x : {1, 0}) {
      for (const std::ptrdiff_t step_y : {1, 0}) {
        if (n == 0) continue;
        check([](const vec& a, const vec& b) { return a < b; }, [](float a, float b) { return a < b; }, step_x, step_y);
        check([](const vec& a, const vec& b) { return a <= b; }, [](float a, float b) { return a <= b; }, step_x,
              step_y);
        check([](const vec& a, const vec& b) { return a == b; }, [](float a, float b) { return a == b; }, step_x,
              step_y);
        compare_floats<default_arch, true>(n, x.begin(), step_x, y.begin(), step_y, out.get(),
                                           [](const vec& a, const vec& b) { return a == b; });
        for (std::size_t i = 0; i < n; ++i) CHECK(out[i] == !(x[step_x == 0 ? 0 : i] == y[step_y == 0 ? 0 : i]));
      }
    }
    const auto m = bools(3 * n, 13);
    for (const std::ptrdiff_t step : {0, 1, 3}) {
      if (n == 0) continue;
      row_data chosen(n);
      choose_floats(n, m.get(), step, x.begin(), 1, y.begin(), 0, chosen.begin());
      for (std::size_t i = 0; i < n; ++i) {
        const float want = m[i * static_cast<std::size_t>(step)] ? x[i] : y[0];
        CHECK((chosen[i] == want || (std::isnan(chosen[i]) && std::isnan(want))));
      }
      CHECK(chosen.guards_hold());
    }
  }
}
