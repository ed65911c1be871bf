// tests/kernels/gemm/product_double.test.cpp -- products of doubles against sums of products in long double.
//
// SPDX-License-Identifier: BSL-1.0
#include "support/threads.hpp"
#include <dimwise/kernels/gemm/product.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <kernels/kernel_test_support.hpp>
#include <limits>
#include <random>
#include <vector>

namespace {

using namespace dimwise::kernels;
using arch = in_double<default_arch>;
using matrix = strided_matrix<const double>;

std::vector<double> random_numbers(std::size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> between(-1.0, 1.0);
  std::vector<double> numbers(count);
  for (double& x : numbers) x = between(engine);
  return numbers;
}

// The error of an element of C in units of epsilon · Σ |a b|.
double worst_error(const gemm_shape& s, const matrix& a, const matrix& b, const strided_matrix<double>& c,
                   const std::vector<double>& before) {
  double worst = 0;
  for (std::size_t i = 0; i < s.m; ++i) {
    for (std::size_t j = 0; j < s.n; ++j) {
      long double sum = before.empty() ? 0.0L : static_cast<long double>(before[i * s.n + j]);
      long double size = std::fabs(sum) + 1e-300L;
      for (std::size_t p = 0; p < s.k; ++p) {
        const long double term = static_cast<long double>(*a.at(i, p)) * static_cast<long double>(*b.at(p, j));
        sum += term;
        size += std::fabs(term);
      }
      const auto error = static_cast<double>(std::fabs(static_cast<long double>(*c.at(i, j)) - sum) / size);
      if (!(error <= worst)) worst = error;
    }
  }
  return worst / std::numeric_limits<double>::epsilon();
}

struct layout {
  bool a_turned;
  bool b_turned;
  bool c_turned;
};

void check_product(const gemm_shape& s, const layout& l, bool onto) {
  CAPTURE(s.m);
  CAPTURE(s.n);
  CAPTURE(s.k);
  CAPTURE(l.a_turned);
  CAPTURE(l.b_turned);
  CAPTURE(l.c_turned);
  CAPTURE(onto);
  const auto sm = static_cast<std::ptrdiff_t>(s.m);
  const auto sn = static_cast<std::ptrdiff_t>(s.n);
  const auto sk = static_cast<std::ptrdiff_t>(s.k);
  const auto left = random_numbers(s.m * s.k + 1, 1);
  const auto right = random_numbers(s.k * s.n + 1, 2);
  const auto before = random_numbers(s.m * s.n, 3);
  std::vector<double> out(s.m * s.n + 1, 7.0);
  const matrix a{left.data() + 1, l.a_turned ? 1 : sk, l.a_turned ? sm : 1};
  const matrix b{right.data() + 1, l.b_turned ? 1 : sn, l.b_turned ? sk : 1};
  const strided_matrix<double> c{out.data(), l.c_turned ? 1 : sn, l.c_turned ? sm : 1};
  if (onto) {
    for (std::size_t i = 0; i < s.m; ++i) {
      for (std::size_t j = 0; j < s.n; ++j) *c.at(i, j) = before[i * s.n + j];
    }
  }
  const support::scratch_memory scratch(gemm_scratch_bytes<arch>(s));
  const keep_or_add<double> epilogue{added_to<double>(c), onto};
  gemm<arch>(s, a, b, c, scratch.get(), epilogue);
  CHECK(scratch.intact());
  CHECK(out[s.m * s.n] == 7.0);
  CHECK(worst_error(s, a, b, c, onto ? before : std::vector<double>{}) <= 8.0);

  // Other threads, the same bits.
  std::vector<double> again(out.size());
  const strided_matrix<double> other{again.data(), c.row_stride, c.column_stride};
  if (onto) {
    for (std::size_t i = 0; i < s.m; ++i) {
      for (std::size_t j = 0; j < s.n; ++j) *other.at(i, j) = before[i * s.n + j];
    }
  }
  const support::scratch_memory more(gemm_scratch_bytes<arch>(s, 3));
  gemm<arch>(s, a, b, other, more.get(), keep_or_add<double>{added_to<double>(other), onto},
             support::racing_executor{3});
  again[s.m * s.n] = 7.0;
  CHECK(out == again);
}

TEST_CASE("gemm in double: every path and layout, against long double" * support::threads) {
  const gemm_shape shapes[] = {{1, 1, 1},    {1, 40, 17},   {3, 33, 70},   {4, 9, 400},   {5, 5, 5},     {13, 17, 31},
                               {37, 70, 90}, {40, 130, 19}, {65, 33, 200}, {120, 70, 65}, {1, 300, 900}, {70, 3, 500}};
  for (const gemm_shape& s : shapes) {
    for (int bits = 0; bits < 16; ++bits) {
      check_product(s, {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0}, (bits & 8) != 0);
    }
  }
}

TEST_CASE("gemm in double: several blocks of k, packed rows of a transposed A, carried sums" * support::threads) {
  check_product({30, 70, 800}, {false, false, false}, true);
  check_product({100, 150, 500}, {true, false, false}, false);
  check_product({8, 9, 14000}, {false, true, false}, false);
  check_product({2, 70, 9000}, {false, false, false}, false);
}

TEST_CASE("gemm in double: a packed B") {
  const gemm_shape s{50, 61, 450};
  const auto left = random_numbers(s.m * s.k, 4);
  const auto right = random_numbers(s.k * s.n, 5);
  const matrix a{left.data(), 450, 1};
  const matrix b{right.data(), 61, 1};
  const support::scratch_memory packed(packed_b_bytes<arch>(s.k, s.n));
  pack_b<arch>(s.k, s.n, b, static_cast<double*>(packed.get()));
  CHECK(packed.intact());
  std::vector<double> out(s.m * s.n);
  const strided_matrix<double> c{out.data(), 61, 1};
  const support::scratch_memory scratch(gemm_scratch_bytes<arch>(s));
  gemm_packed<arch>(s, a, static_cast<const double*>(packed.get()), c, scratch.get());
  CHECK(scratch.intact());
  CHECK(worst_error(s, a, b, c, {}) <= 8.0);
}

TEST_CASE("gemm in double: NaN, infinities and numbers beyond float") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const gemm_shape s{7, 9, 3};
  std::vector<double> left(s.m * s.k, 1.0);
  std::vector<double> right(s.k * s.n, 2.0);
  left[1] = std::numeric_limits<double>::quiet_NaN();
  left[4] = infinity;
  left[6] = 1e200;
  left[9] = 1e-200;
  left[10] = left[11] = 0;
  std::vector<double> out(s.m * s.n);
  const support::scratch_memory scratch(gemm_scratch_bytes<arch>(s));
  gemm<arch>(s, matrix{left.data(), 3, 1}, matrix{right.data(), 9, 1}, strided_matrix<double>{out.data(), 9, 1},
             scratch.get());
  for (std::size_t j = 0; j < s.n; ++j) {
    CHECK(std::isnan(out[j]));
    CHECK(out[9 + j] == infinity);
    CHECK(out[18 + j] == 2e200);
    CHECK(out[27 + j] == 2e-200);
    CHECK(out[36 + j] == 6.0);
  }
}

}  // namespace
