// tests/kernels/rows/double.test.cpp -- rows of doubles against long double: sums, maxima, norms, softmax, elements.
//
// SPDX-License-Identifier: BSL-1.0
#include <dimwise/kernels/map.hpp>
#include <dimwise/kernels/rows/forward.hpp>
#include <dimwise/kernels/rows/reduce.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <random>
#include <vector>

namespace {

using namespace dimwise::kernels;
using arch = in_double<default_arch>;
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double epsilon = std::numeric_limits<double>::epsilon();

std::vector<double> random_numbers(std::size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> between(-2.0, 3.0);
  std::vector<double> numbers(count);
  for (double& x : numbers) x = between(engine);
  return numbers;
}

const std::size_t extents[] = {1, 2, 3, 5, 8, 17, 31, 64, 100, 2047, 5000};

bool near(double got, long double exact, double units, long double size) {
  return std::fabs(static_cast<long double>(got) - exact) <=
         static_cast<long double>(units) * static_cast<long double>(epsilon) * size;
}

TEST_CASE("rows of doubles: sum, mean, maximum, minimum, norm") {
  for (const std::size_t n : extents) {
    CAPTURE(n);
    const auto x = random_numbers(n, 1);
    long double sum = 0;
    long double size = 0;
    long double squares = 0;
    double most = -infinite;
    double least = infinite;
    for (const double v : x) {
      sum += v;
      size += std::fabs(v);
      squares += static_cast<long double>(v) * static_cast<long double>(v);
      most = v > most ? v : most;
      least = v < least ? v : least;
    }
    CHECK(near(sum_row<arch>(n, x.data()), sum, 8, size));
    CHECK(near(mean_row<arch>(n, x.data()), sum / static_cast<long double>(n), 8, size / static_cast<long double>(n)));
    CHECK(max_row<arch>(n, x.data()) == most);
    CHECK(min_row<arch>(n, x.data()) == least);
    CHECK(near(norm_row<arch>(n, x.data()), std::sqrt(squares), 4, std::sqrt(squares)));
    for (const double scale : {0x1p-600, 0x1p600, 0x1p-1000}) {
      auto y = x;
      for (double& v : y) v *= scale;
      CHECK(near(norm_row<arch>(n, y.data()), std::sqrt(squares) * static_cast<long double>(scale), 4,
                 std::sqrt(squares) * static_cast<long double>(scale)));
    }
    auto odd = x;
    odd[n / 2] = not_a_number;
    CHECK(std::isnan(sum_row<arch>(n, odd.data())));
    CHECK(std::isnan(max_row<arch>(n, odd.data())));
    CHECK(std::isnan(min_row<arch>(n, odd.data())));
    CHECK(std::isnan(norm_row<arch>(n, odd.data())));
    odd[n / 2] = -infinite;
    CHECK(sum_row<arch>(n, odd.data()) == -infinite);
    CHECK(min_row<arch>(n, odd.data()) == -infinite);
    CHECK(norm_row<arch>(n, odd.data()) == infinite);
  }
}

TEST_CASE("rows of doubles: columns") {
  constexpr std::size_t columns = 37;
  for (const std::size_t rows : {1U, 2U, 7U, 200U, 3000U}) {
    CAPTURE(rows);
    const auto x = random_numbers(rows * columns, 2);
    std::vector<double> sum(columns, 1.0);
    std::vector<double> most(columns);
    std::vector<double> least(columns);
    std::vector<double> norm(columns);
    sum_columns<arch>(rows, columns, x.data(), columns, sum.data(), true);
    max_columns<arch>(rows, columns, x.data(), columns, most.data());
    min_columns<arch>(rows, columns, x.data(), columns, least.data());
    norm_columns<arch>(rows, columns, x.data(), columns, norm.data());
    for (std::size_t c = 0; c < columns; ++c) {
      long double exact = 1;
      long double size = 1;
      long double squares = 0;
      double top = -infinite;
      double bottom = infinite;
      for (std::size_t r = 0; r < rows; ++r) {
        const double v = x[r * columns + c];
        exact += v;
        size += std::fabs(v);
        squares += static_cast<long double>(v) * static_cast<long double>(v);
        top = v > top ? v : top;
        bottom = v < bottom ? v : bottom;
      }
      CHECK(near(sum[c], exact, 8, size));
      CHECK(near(norm[c], std::sqrt(squares), 8, std::sqrt(squares)));
      CHECK(most[c] == top);
      CHECK(least[c] == bottom);
    }
  }
}

TEST_CASE("rows of doubles: softmax and log-softmax, with hidden elements") {
  for (const std::size_t n : extents) {
    CAPTURE(n);
    auto x = random_numbers(n, 3);
    for (double& v : x) v *= 20;
    if (n > 4) x[n / 3] = -infinite;
    long double top = -infinite;
    for (const double v : x) top = v > top ? static_cast<long double>(v) : top;
    long double total = 0;
    for (const double v : x) total += std::exp(static_cast<long double>(v) - top);
    std::vector<double> weights(n + 1, 7.0);
    std::vector<double> logs(n + 1, 7.0);
    softmax_row<arch>(n, x.data(), weights.data(), -0.0);
    log_softmax_row<arch>(n, x.data(), logs.data());
    CHECK(weights[n] == 7.0);
    CHECK(logs[n] == 7.0);
    for (std::size_t i = 0; i < n; ++i) {
      if (x[i] == -infinite) {
        CHECK(weights[i] == 0.0);
        CHECK(std::signbit(weights[i]));
        CHECK(logs[i] == -infinite);
        continue;
      }
      const long double exact = std::exp(static_cast<long double>(x[i]) - top) / total;
      CHECK(near(weights[i], exact, 60, exact));  // the difference of scores is rounded first
      CHECK(near(logs[i], std::log(exact), 4, 100.0L));
    }
  }
  double row[] = {1.0, infinite, -infinite, 2.0, not_a_number};
  softmax_row<arch>(5, row, row);
  CHECK(std::isnan(row[0]));
  CHECK(row[2] == 0.0);
}

TEST_CASE("rows of doubles: layer norm and RMS norm") {
  for (const std::size_t n : extents) {
    CAPTURE(n);
    const auto x = random_numbers(n, 4);
    const auto gamma = random_numbers(n, 5);
    const auto beta = random_numbers(n, 6);
    long double sum = 0;
    long double squares = 0;
    for (const double v : x) sum += v;
    const long double mean = sum / static_cast<long double>(n);
    long double variance = 0;
    for (const double v : x) {
      variance += (static_cast<long double>(v) - mean) * (static_cast<long double>(v) - mean);
      squares += static_cast<long double>(v) * static_cast<long double>(v);
    }
    const long double scale = 1 / std::sqrt(variance / static_cast<long double>(n) + 1e-5L);
    const long double rms = 1 / std::sqrt(squares / static_cast<long double>(n) + 1e-5L);
    std::vector<double> standard(n);
    std::vector<double> root(n);
    layer_norm_row<arch>(n, x.data(), standard.data(), 1e-5, gamma.data(), beta.data());
    rms_norm_row<arch>(n, x.data(), root.data(), 1e-5, gamma.data());
    for (std::size_t i = 0; i < n; ++i) {
      const auto v = static_cast<long double>(x[i]);
      const auto g = static_cast<long double>(gamma[i]);
      CHECK(near(standard[i], (v - mean) * scale * g + static_cast<long double>(beta[i]), 16, 4 * scale + 4));
      CHECK(near(root[i], v * rms * g, 8, 4 * rms + 4));
    }
  }
}

TEST_CASE("elements of doubles: arithmetic, comparisons and choices") {
  const double low = std::nextafter(1.0, 0.0);
  for (const std::size_t n : {1U, 3U, 7U, 16U, 63U, 64U, 65U, 200U}) {
    CAPTURE(n);
    std::vector<double> a(n, 1.0);
    std::vector<double> b(n, low);  // the same float
    a[n / 2] = not_a_number;
    std::vector<double> out(n + 1, 7.0);
    zip_floats<arch>(n, a.data(), b.data(), out.data(), max_of{});
    for (std::size_t i = 0; i < n; ++i) CHECK((i == n / 2 ? std::isnan(out[i]) : out[i] == 1.0));
    zip_floats<arch>(n, b.data(), a.data(), out.data(), min_of{});
    for (std::size_t i = 0; i < n; ++i) CHECK((i == n / 2 ? std::isnan(out[i]) : out[i] == low));
    zip_number<arch>(n, b.data(), 1e-300, out.data(), multiply_of{});
    CHECK(out[n - 1] == low * 1e-300);
    const std::unique_ptr<bool[]> less(new bool[n]);
    const std::unique_ptr<bool[]> mask(new bool[n]);
    compare_floats<arch>(n, b.data(), 1, a.data(), 1, less.get(), [](const auto& x, const auto& y) { return x < y; });
    for (std::size_t i = 0; i < n; ++i) CHECK(less[i] == (i != n / 2));
    for (std::size_t i = 0; i < n; ++i) mask[i] = i % 3 == 0;
    choose_floats<arch>(n, mask.get(), 1, b.data(), 1, &infinite, 0, out.data());
    for (std::size_t i = 0; i < n; ++i) CHECK(out[i] == (i % 3 == 0 ? low : infinite));
    CHECK(out[n] == 7.0);
  }
  double hidden[] = {5.0, 6.0};
  const double scores[] = {-infinite, 1.0};
  zip_floats<arch>(2, hidden, scores, hidden, hide_of{});
  CHECK(hidden[0] == -infinite);
  CHECK(hidden[1] == 6.0);
  const double gradient[] = {0.0, 2.0};
  const double slope[] = {infinite, 3.0};
  zip_floats<arch>(2, gradient, slope, hidden, sent_of<multiply_of>{});
  CHECK(hidden[0] == 0.0);
  CHECK(hidden[1] == 6.0);
}

}  // namespace
